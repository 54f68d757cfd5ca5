// The matrices of F(m, 3) (winograd.h) by Toom and Cook: the filter and the
// data are polynomials, which are evaluated at m + 1 points and infinity,
// multiplied there and interpolated. The points decide how much rounding errors
// grow.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_WINOGRAD_TRANSFORMS_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_WINOGRAD_TRANSFORMS_H_

#include <vector>

namespace tilewright {

// Rows of B^T and G and columns of A^T: the points in their order, infinity.
struct WinogradTransforms {
  using Matrix = std::vector<std::vector<double>>;
  Matrix input;   // B^T: t x t, t = m + 2
  Matrix filter;  // G: t x 3
  Matrix output;  // A^T: m x t
};

// F(m, 3) of m + 1 different points.
WinogradTransforms ToomCook(const std::vector<double>& points);

// With the points 0, p, -p, q, -q: 0 and +-1 for F(2, 3), 0, +-3/4 and +-3/2
// for F(4, 3), whose errors are half of those of the usual 0, +-1 and +-2
// (winograd_errors_test.cc), and whose B and A are floats. Sets of
// points have been searched by Barabasz, Anderson, Soodhalter and Gregg, "Error
// Analysis and Improving the Accuracy of Winograd Convolution for Deep Neural
// Networks", 2020. REQUIRES: m is 2 or 4.
WinogradTransforms WinogradTransformsOf(int m);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_WINOGRAD_TRANSFORMS_H_
