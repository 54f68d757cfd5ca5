// erf: a series below 1; above, 1 - erfc with erfc = e^q, which is at most
// 0.16, so that its error counts little. Where tables are read in one
// instruction, piecewise polynomials take half as long.
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

// 16 cells around t = 0, 1, ..., 15 of t = kCells |x|, in each of them c0 + d
// (c1 + d (...)) of the distance d from its middle; in the first |x| stands for
// c0, so that what is small is exact. kCells makes the first c0 nearly floats;
// from the middle of the last cell on, erf is 1.
Value ErfByCells(Value x) {
  constexpr double kCells = 3.9217417240142822, kLast = 15.49;
  // Adding it rounds to whole numbers, which its low bits then hold.
  constexpr double kRound = 1 << 23;
  static const std::vector<float> c[] = {
      {0, 0.281607896f, 0.529224038f, 0.720669985f, 0.850820065f, 0.928618491f,
       0.969508886f, 0.988405764f, 0.996084213f, 0.998827457f, 0.999689162f,
       0.999927104f, 0.99998492f, 0.999997258f, 0.999999583f, 0.99999994f},
      {0.0327352434f, 0.269611627f, 0.221832961f, 0.160264939f, 0.101666056f,
       0.0566289388f, 0.0276965629f, 0.0118942829f, 0.00448513683f,
       0.00148503983f, 0.000431743189f, 0.000110214278f, 2.47044518e-05f,
       4.86225326e-06f, 8.40281757e-07f, 1.27507946e-07f},
      {-3.63217261e-08f, -0.0175296534f, -0.0288464874f, -0.0312608071f,
       -0.0264409445f, -0.0184099935f, -0.0108053666f, -0.00541310478f,
       -0.0023325549f, -0.000868929259f, -0.000281093526f, -7.81811686e-05f,
       -1.9734849e-05f, -4.68625103e-06f, -1.65109202e-06f, -2.42233227e-07f},
      {-0.00623561209f, -0.00508393534f, -0.0023072781f, 0.000591580756f,
       0.00238102814f, 0.00276266155f, 0.00220981333f, 0.00138482032f,
       0.000711800531f, 0.000306827656f, 0.000112320922f, 3.51951967e-05f,
       9.4899151e-06f, 2.21021401e-06f, 4.45862355e-07f, 7.80687941e-08f},
      {-3.4820502e-07f, 0.000541329908f, 0.000770553423f, 0.000617672456f,
       0.000263635186f, -4.80743511e-05f, -0.000193591957f, -0.000198876602f,
       -0.000136210903f, -7.14542693e-05f, -2.91040415e-05f, -1.35514911e-05f,
       -1.49068921e-06f, 1.44192154e-06f, 3.34683273e-06f, 4.34213575e-07f},
      {0.000121133569f, 8.61994631e-05f, 5.7008051e-06f, -5.91548123e-05f,
       -7.35132926e-05f, -4.73369801e-05f, -1.24373428e-05f, 8.80939024e-06f,
       1.40313468e-05f, 1.06119223e-05f, 5.74092701e-06f, 2.44097896e-06f,
       8.48687705e-07f, 2.46103838e-07f, 6.02704873e-08f,
       1.25657049e-08f}};  // 2^-25.1 of erf
  const Value a = Abs(x);
  const Value t = AtMost(a * kCells, kLast);
  const Value cell = t + kRound;
  const Value d = t - (cell - kRound);
  Value sum = Lookup(cell, c[5]);
  for (int i = 4; i > 0; --i) sum = MultiplyAdd(sum, d, Lookup(cell, c[i]));
  const Value base = Select(t.Like(0.5) < t, Lookup(cell, c[0]), a);
  return FlipSign(MultiplyAdd(sum, d, base), x);
}

}  // namespace

Value Erf(Value x) {
  if (x.dtype() == DType::kFloat32 && x.emitter->lookup()) return ErfByCells(x);
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
