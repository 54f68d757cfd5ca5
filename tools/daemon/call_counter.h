// Tells an observer how every call of a server ended.
#ifndef TILEWRIGHT_TOOLS_DAEMON_CALL_COUNTER_H_
#define TILEWRIGHT_TOOLS_DAEMON_CALL_COUNTER_H_

#include <grpcpp/support/server_interceptor.h>

#include "tools/daemon/observer.h"

namespace tilewright::daemon {

// `observer` must outlive the server.
class CallCounter
    : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit CallCounter(Observer& observer) : observer_(observer) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override;

 private:
  Observer& observer_;
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_CALL_COUNTER_H_
