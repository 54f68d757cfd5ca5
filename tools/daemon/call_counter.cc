#include "tools/daemon/call_counter.h"

namespace tilewright::daemon {
namespace {

using grpc::experimental::InterceptionHookPoints;

class CountOne : public grpc::experimental::Interceptor {
 public:
  CountOne(const char* method, Observer& observer)
      : method_(method), observer_(observer) {}

  void Intercept(
      grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            InterceptionHookPoints::PRE_SEND_STATUS)) {
      observer_.OnCall(method_, methods->GetSendStatus());
    }
    methods->Proceed();
  }

 private:
  const char* const method_;
  Observer& observer_;
};

}  // namespace

grpc::experimental::Interceptor* CallCounter::CreateServerInterceptor(
    grpc::experimental::ServerRpcInfo* info) {
  return new CountOne(info->method(), observer_);
}

}  // namespace tilewright::daemon
