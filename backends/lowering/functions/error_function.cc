// erf: a series below 1; above, 1 - erfc with erfc = e^q, which is at most
// 0.16, so that its error counts little.
#include <vector>

#include "backends/lowering/functions/functions.h"

namespace tilewright::lowering::functions {
namespace {

// log erfc(t) on [1, 4]
Value ComplementSingle(Value t) {
  static const std::vector<double> c = {-0.000341553388993, -1.12708905714,
                                        -0.638145069874,    -0.103106534703,
                                        0.0218379522017,    -0.00294762877464,
                                        0.00018637603129};  // 2^-29.8 of erf
  return ExpOfMiddle(Polynomial(t, c));
}

// e^(-t^2) times e^(t^2) erfc(t) in u = (t - 2) / (t + 2), t on [1, 6]
Value ComplementDouble(Value t) {
  static const std::vector<double> c = {
      0.25539567631050575042,
      -0.42718584741395829667,
      0.24165819424245770242,
      -0.078978581015872929746,
      0.0037328924052853869603,
      0.0069974617638981350574,
      -0.00084714320282013475142,
      -0.000981978169669275306,
      0.000043549437807089289899,
      0.00017437057866720501682,
      0.000027668170760167687407,
      -0.000027319819239360277748,
      -0.000014626575945740086096,
      -1.6466955569045033485e-6};  // 2^-62.8 of erf
  const Value u = (t - 2) / (t + 2);
  return ExpOfMiddle(t.Like(0) - t * t) * Polynomial(u, c);
}

}  // namespace

Value Erf(Value x) {
  // erf(a) / a - 1 in a^2
  static const std::vector<double> single = {
      0.128379165727,   -0.376126258248,    0.112835851526, -0.0268538120713,
      0.00518832791098, -0.000801019537695, 7.8538664232e-5};  // 2^-29.6
  static const std::vector<double> twice = {
      0.12837916709551257375,    -0.37612638903183747605,
      0.11283791670954857531,    -0.026866170645072902282,
      0.0052239776247809383593,  -0.00085483269787462503582,
      0.00012055331037042932511, -0.000014925593510203919111,
      1.6460972867792407874e-6,  -1.6350025733547259717e-7,
      1.4657883087466360706e-8,  -1.1365677755618262501e-9,
      5.9452804320380002417e-11};  // 2^-62.7
  const bool is_single = x.dtype() == DType::kFloat32;
  const Value a = Abs(x);
  const Value series =
      MultiplyAdd(a, Polynomial(a * a, is_single ? single : twice), a);
  const Value t = AtMost(a, is_single ? 4 : 6);
  const Value far =
      a.Like(1) - (is_single ? ComplementSingle(t) : ComplementDouble(t));
  return FlipSign(Select(a < 1, series, far), x);
}

}  // namespace tilewright::lowering::functions
