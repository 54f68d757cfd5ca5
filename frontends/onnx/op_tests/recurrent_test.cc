// RNN, GRU and LSTM beside the plain loop over steps that ONNX's equations are.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using Function = std::function<double(double)>;

constexpr int64_t kSteps = 4, kBatch = 3, kInputs = 5, kHidden = 2;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Tanh(double x) { return std::tanh(x); }

// A node, and the options of its own that the reference goes by.
struct Net {
  std::string op = "LSTM";
  std::string direction = "forward";
  bool batch_first = false;
  bool has_bias = true, has_initial = true, has_peepholes = false;
  double clip = 0;          // 0: none
  int64_t hidden_size = 0;  // 0: not said
  bool input_forget = false;
  bool linear_before_reset = false;
  std::vector<int64_t> lengths;  // empty: all
  bool computed_lengths = false;
  bool computed_weights = false;
  std::vector<std::string> activations;
  Values alphas, betas;
  std::vector<Function> functions;  // of all directions; empty: the defaults

  int64_t gates() const { return op == "RNN" ? 1 : op == "GRU" ? 3 : 4; }
  int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
  std::vector<int64_t> StateShape() const {
    if (batch_first) return {kBatch, directions(), kHidden};
    return {directions(), kBatch, kHidden};
  }
  std::vector<int64_t> SequenceShape() const {
    if (batch_first) return {kBatch, kSteps, directions(), kHidden};
    return {kSteps, directions(), kBatch, kHidden};
  }
};

struct Tensors {
  Given x, w, r, b, h, c, p;
};

Tensors Draw(const Net& net) {
  Random random(11);
  const auto draw = [&](std::vector<int64_t> shape) {
    Given given{std::move(shape), {}};
    int64_t count = 1;
    for (const int64_t extent : given.shape) count *= extent;
    for (int64_t i = 0; i < count; ++i) {
      given.values.push_back(
          static_cast<float>(random.UniformInt(-1000, 1000)) / 800);
    }
    return given;
  };
  const int64_t d = net.directions(), rows = net.gates() * kHidden;
  Tensors t;
  t.x = draw(net.batch_first ? std::vector<int64_t>{kBatch, kSteps, kInputs}
                             : std::vector<int64_t>{kSteps, kBatch, kInputs});
  t.w = draw({d, rows, kInputs});
  t.r = draw({d, rows, kHidden});
  t.b = draw({d, 2 * rows});
  t.h = draw(net.StateShape());
  t.c = draw(net.StateShape());
  t.p = draw({d, 3 * kHidden});
  return t;
}

// One sequence in one direction.
class Reference {
 public:
  Reference(const Net& net, const Tensors& tensors, int64_t d, int64_t n)
      : net_(net), tensors_(tensors), d_(d), n_(n) {}

  double H(int64_t j) const { return h_[static_cast<size_t>(j)]; }
  double C(int64_t j) const { return c_[static_cast<size_t>(j)]; }

  void Begin() {
    for (int64_t j = 0; j < kHidden; ++j) {
      const int64_t at =
          net_.batch_first ? n_ * net_.directions() + d_ : d_ * kBatch + n_;
      const size_t i = static_cast<size_t>(at * kHidden + j);
      h_.push_back(net_.has_initial ? tensors_.h.values[i] : 0);
      c_.push_back(net_.has_initial ? tensors_.c.values[i] : 0);
    }
  }

  void Step(int64_t t) {
    const std::vector<double> h = h_, c = c_;
    for (int64_t j = 0; j < kHidden; ++j) {
      const size_t i = static_cast<size_t>(j);
      if (net_.op == "RNN") {
        h_[i] = Apply(0, X(0, j, t) + R(0, j, h));
      } else if (net_.op == "GRU") {
        const double z = Apply(0, X(0, j, t) + R(0, j, h));
        std::vector<double> reset = h;
        for (int64_t k = 0; k < kHidden; ++k)
          reset[static_cast<size_t>(k)] *= Apply(0, X(1, k, t) + R(1, k, h));
        const double r = Apply(0, X(1, j, t) + R(1, j, h));
        const double recurrent =
            net_.linear_before_reset ? r * R(2, j, h) : R(2, j, reset);
        h_[i] = (1 - z) * Apply(1, X(2, j, t) + recurrent) + z * h[i];
      } else {
        const double in = Apply(0, X(0, j, t) + R(0, j, h) + P(0, j) * c[i]);
        const double forget =
            net_.input_forget
                ? 1 - in
                : Apply(0, X(2, j, t) + R(2, j, h) + P(2, j) * c[i]);
        c_[i] = forget * c[i] + in * Apply(1, X(3, j, t) + R(3, j, h));
        const double out = Apply(0, X(1, j, t) + R(1, j, h) + P(1, j) * c_[i]);
        h_[i] = out * FunctionOf(2)(c_[i]);
      }
    }
  }

 private:
  Function FunctionOf(size_t i) const {
    const size_t each = net_.functions.size() / net_.directions();
    if (each > 0) return net_.functions[static_cast<size_t>(d_) * each + i];
    if (net_.op == "RNN" || i > 0) return Tanh;
    return Sigmoid;
  }

  double Apply(size_t i, double x) const {
    if (net_.clip > 0) x = std::clamp(x, -net_.clip, net_.clip);
    return FunctionOf(i)(x);
  }

  double Bias(int64_t matrix, int64_t gate, int64_t j) const {
    if (!net_.has_bias) return 0;
    const int64_t at = (2 * d_ + matrix) * net_.gates() + gate;
    return tensors_.b.values[static_cast<size_t>(at * kHidden + j)];
  }

  double X(int64_t gate, int64_t j, int64_t t) const {
    double sum = Bias(0, gate, j);
    const int64_t row = (d_ * net_.gates() + gate) * kHidden + j;
    const int64_t at = net_.batch_first ? n_ * kSteps + t : t * kBatch + n_;
    for (int64_t k = 0; k < kInputs; ++k) {
      sum += static_cast<double>(
                 tensors_.w.values[static_cast<size_t>(row * kInputs + k)]) *
             tensors_.x.values[static_cast<size_t>(at * kInputs + k)];
    }
    return sum;
  }

  double R(int64_t gate, int64_t j, const std::vector<double>& h) const {
    double sum = Bias(1, gate, j);
    const int64_t row = (d_ * net_.gates() + gate) * kHidden + j;
    for (int64_t k = 0; k < kHidden; ++k) {
      sum += tensors_.r.values[static_cast<size_t>(row * kHidden + k)] *
             h[static_cast<size_t>(k)];
    }
    return sum;
  }

  double P(int64_t gate, int64_t j) const {
    if (!net_.has_peepholes) return 0;
    return tensors_.p
        .values[static_cast<size_t>((3 * d_ + gate) * kHidden + j)];
  }

  const Net& net_;
  const Tensors& tensors_;
  int64_t d_, n_;
  std::vector<double> h_, c_;
};

// Outputs Y, Y_h and Y_c.
std::vector<Values> Expected(const Net& net, const Tensors& tensors) {
  const int64_t directions = net.directions();
  Values y(static_cast<size_t>(kSteps * directions * kBatch * kHidden));
  Values h(static_cast<size_t>(directions * kBatch * kHidden));
  Values c = h;
  for (int64_t d = 0; d < directions; ++d) {
    for (int64_t n = 0; n < kBatch; ++n) {
      Reference reference(net, tensors, d, n);
      reference.Begin();
      const int64_t length =
          net.lengths.empty() ? kSteps : net.lengths[static_cast<size_t>(n)];
      for (int64_t s = 0; s < length; ++s) {
        const bool reverse = net.direction == "reverse" || d == 1;
        const int64_t t = reverse ? length - 1 - s : s;
        reference.Step(t);
        const int64_t at = net.batch_first ? (n * kSteps + t) * directions + d
                                           : (t * directions + d) * kBatch + n;
        for (int64_t j = 0; j < kHidden; ++j)
          y[static_cast<size_t>(at * kHidden + j)] =
              static_cast<float>(reference.H(j));
      }
      const int64_t at = net.batch_first ? n * directions + d : d * kBatch + n;
      for (int64_t j = 0; j < kHidden; ++j) {
        h[static_cast<size_t>(at * kHidden + j)] =
            static_cast<float>(reference.H(j));
        c[static_cast<size_t>(at * kHidden + j)] =
            static_cast<float>(reference.C(j));
      }
    }
  }
  return {y, h, c};
}

void AddLengths(ModelBuilder& b, const Net& net, std::vector<Given>& inputs) {
  if (!net.computed_lengths) {
    b.Integers("lengths", onnx::TensorProto::INT32, {kBatch}, net.lengths);
    return;
  }
  b.Input("float_lengths", {kBatch});
  b.Node("Cast", {"float_lengths"}, {"lengths"})
      .Int("to", onnx::TensorProto::INT32);
  inputs.push_back({{kBatch}, {net.lengths.begin(), net.lengths.end()}});
}

// The model with one output; its inputs in order.
ModelBuilder Build(const Net& net, const Tensors& tensors, int output,
                   std::vector<Given>& inputs) {
  ModelBuilder b(net.batch_first ? 14 : 7);
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const Given& given,
                       bool present, bool computed) {
    names.push_back(present ? name : "");
    if (!present) return;
    if (!computed) {
      b.Floats(name, given.shape, given.values);
      return;
    }
    b.Input(name, given.shape);
    inputs.push_back(given);
  };
  add("x", tensors.x, true, true);
  add("w", tensors.w, true, net.computed_weights);
  add("r", tensors.r, true, net.computed_weights);
  add("b", tensors.b, net.has_bias, net.computed_weights);
  names.push_back(net.lengths.empty() ? "" : "lengths");
  if (!net.lengths.empty()) AddLengths(b, net, inputs);
  add("h", tensors.h, net.has_initial, net.computed_weights);
  if (net.op == "LSTM") {
    add("c", tensors.c, net.has_initial, true);
    add("p", tensors.p, net.has_peepholes, net.computed_weights);
  }
  std::vector<std::string> outputs(static_cast<size_t>(output) + 1);
  outputs.back() = "y";
  NodeBuilder node = b.Node(net.op, names, outputs);
  if (net.direction != "forward") node.String("direction", net.direction);
  if (net.batch_first) node.Int("layout", 1);
  if (net.clip > 0) node.Float("clip", static_cast<float>(net.clip));
  if (net.hidden_size > 0) node.Int("hidden_size", net.hidden_size);
  if (net.input_forget) node.Int("input_forget", 1);
  if (net.linear_before_reset) node.Int("linear_before_reset", 1);
  if (!net.activations.empty()) node.Strings("activations", net.activations);
  if (!net.alphas.empty()) node.Floats("activation_alpha", net.alphas);
  if (!net.betas.empty()) node.Floats("activation_beta", net.betas);
  b.model().mutable_graph()->add_output()->set_name("y");
  return b;
}

void ExpectAsReference(const Net& net) {
  const Tensors tensors = Draw(net);
  const std::vector<Values> expected = Expected(net, tensors);
  for (int output = 0; output < (net.op == "LSTM" ? 3 : 2); ++output) {
    SCOPED_TRACE(net.op + ", output " + std::to_string(output));
    std::vector<Given> inputs;
    ModelBuilder b = Build(net, tensors, output, inputs);
    ExpectNear(RunModel(b, inputs),
               output == 0 ? net.SequenceShape() : net.StateShape(),
               expected[static_cast<size_t>(output)]);
  }
}

// What `change` makes of every operator.
void ExpectAllAsReference(const std::function<void(Net&)>& change) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    Net net;
    net.op = op;
    change(net);
    ExpectAsReference(net);
  }
}

absl::Status ImportOf(
    const Net& net,
    const std::function<void(Tensors&)>& change = [](Tensors&) {}) {
  Tensors tensors = Draw(net);
  change(tensors);
  std::vector<Given> inputs;
  ModelBuilder b = Build(net, tensors, 0, inputs);
  return ImportModelProto(b.model()).status();
}

TEST(RecurrentTest, GoesThroughTheSequenceInEachDirection) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    SCOPED_TRACE(direction);
    ExpectAllAsReference([&](Net& net) { net.direction = direction; });
  }
}

TEST(RecurrentTest, BiasesAndInitialStatesAreZeroWithoutThem) {
  ExpectAllAsReference([](Net& net) { net.has_bias = false; });
  ExpectAllAsReference([](Net& net) { net.has_initial = false; });
}

TEST(RecurrentTest, TheBatchMayComeFirst) {
  for (const char* direction : {"forward", "bidirectional"}) {
    ExpectAllAsReference([&](Net& net) {
      net.batch_first = true;
      net.direction = direction;
    });
  }
}

TEST(RecurrentTest, WeightsMayBeComputed) {
  ExpectAllAsReference([](Net& net) {
    net.computed_weights = true;
    net.has_peepholes = net.op == "LSTM";
    net.direction = "bidirectional";
  });
}

TEST(RecurrentTest, SequencesEndAtTheirLengths) {
  for (const bool computed : {false, true}) {
    for (const char* direction : {"forward", "bidirectional"}) {
      for (const bool has_initial : {false, true}) {
        ExpectAllAsReference([&](Net& net) {
          net.lengths = {3, 4, 1};
          net.computed_lengths = computed;
          net.direction = direction;
          net.has_initial = has_initial;
          net.batch_first = computed;
        });
      }
    }
  }
}

TEST(RecurrentTest, ClipBoundsWhatGoesIntoGates) {
  ExpectAllAsReference([](Net& net) { net.clip = 0.5; });
}

TEST(RecurrentTest, GruMayResetAfterItsProduct) {
  Net net;
  net.op = "GRU";
  net.linear_before_reset = true;
  for (const bool has_bias : {true, false}) {
    for (const bool has_initial : {true, false}) {
      net.has_bias = has_bias;
      net.has_initial = has_initial;
      ExpectAsReference(net);
    }
  }
}

TEST(RecurrentTest, LstmMayForgetWhatItDoesNotTakeIn) {
  Net net;
  net.input_forget = true;
  ExpectAsReference(net);
}

TEST(RecurrentTest, LstmMayLookAtItsCell) {
  Net net;
  net.has_peepholes = true;
  ExpectAsReference(net);
  net.direction = "bidirectional";
  net.has_initial = false;
  ExpectAsReference(net);
}

TEST(RecurrentTest, ActivationsAreThoseOfTheAttribute) {
  struct Case {
    const char* name;
    Values alphas, betas;
    Function function;
  };
  const Case cases[] = {
      {"Sigmoid", {}, {}, Sigmoid},
      {"RELU", {}, {}, [](double x) { return std::max(x, 0.0); }},
      {"Affine", {}, {}, [](double x) { return x; }},
      {"Affine", {0.5}, {0.25}, [](double x) { return 0.5 * x + 0.25; }},
      {"LeakyRelu",
       {},
       {},
       [](double x) { return x < 0 ? double{0.01F} * x : x; }},
      {"LeakyRelu", {0.5}, {}, [](double x) { return x < 0 ? 0.5 * x : x; }},
      {"ThresholdedRelu", {}, {}, [](double x) { return x >= 1 ? x : 0; }},
      {"ThresholdedRelu",
       {0.25},
       {},
       [](double x) { return x >= 0.25 ? x : 0; }},
      {"ScaledTanh",
       {0.5},
       {0.75},
       [](double x) { return 0.5 * std::tanh(0.75 * x); }},
      {"HardSigmoid",
       {},
       {},
       [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }},
      {"HardSigmoid",
       {0.5},
       {0.25},
       [](double x) { return std::clamp(0.5 * x + 0.25, 0.0, 1.0); }},
      {"Elu", {}, {}, [](double x) { return x < 0 ? std::expm1(x) : x; }},
      {"Elu",
       {0.5},
       {},
       [](double x) { return x < 0 ? 0.5 * std::expm1(x) : x; }},
      {"Softsign", {}, {}, [](double x) { return x / (1 + std::abs(x)); }},
      {"Softplus", {}, {}, [](double x) { return std::log1p(std::exp(x)); }},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    Net net;
    net.op = "RNN";
    net.activations = {one.name};
    net.alphas = one.alphas;
    net.betas = one.betas;
    net.functions = {one.function};
    ExpectAsReference(net);
  }
}

TEST(RecurrentTest, EachGateAndDirectionHasItsActivation) {
  const auto relu = [](double x) { return std::max(x, 0.0); };
  const auto half = [](double x) { return x < 0 ? 0.5 * x : x; };
  const auto fifth = [](double x) { return x < 0 ? 0.2 * x : x; };
  Net net;
  net.direction = "bidirectional";
  net.activations = {"Sigmoid", "LeakyRelu", "Tanh",
                     "Tanh",    "Relu",      "LeakyRelu"};
  net.alphas = {0.5F, 0.2F};
  net.functions = {Sigmoid, half, Tanh, Tanh, relu, fifth};
  ExpectAsReference(net);
  net.op = "GRU";
  net.activations = {"Sigmoid", "LeakyRelu", "Tanh", "LeakyRelu"};
  net.functions = {Sigmoid, half, Tanh, fifth};
  ExpectAsReference(net);
}

TEST(RecurrentTest, ShapesThatDoNotFitAreErrors) {
  const auto error = [](const std::string& text) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text));
  };
  EXPECT_THAT(ImportOf({},
                       [](Tensors& t) {
                         t.x.shape = {4, 15};
                       }),
              error("where three dimensions each are needed"));
  EXPECT_THAT(ImportOf({},
                       [](Tensors& t) {
                         t.w.shape = {1, 10, 4};
                       }),
              error("W has shape [1, 10, 4] where [1, 8, 5] is needed"));
  EXPECT_THAT(ImportOf({},
                       [](Tensors& t) {
                         t.b.shape = {2, 8};
                       }),
              error("B has shape [2, 8] where [1, 16] is needed"));
  EXPECT_THAT(ImportOf({},
                       [](Tensors& t) {
                         t.c.shape = {3, 1, 2};
                       }),
              error("initial_c has shape [3, 1, 2] where [1, 3, 2] is needed"));
  Net net;
  net.hidden_size = 3;
  EXPECT_THAT(ImportOf(net),
              error("'hidden_size' is 3 where R has shape [1, 8, 2]"));
  net.hidden_size = 2;
  EXPECT_THAT(ImportOf(net), StatusIs(absl::StatusCode::kOk));
  net.lengths = {1, 2, 5};
  EXPECT_THAT(ImportOf(net), error("sequence_lens has 5 where X has 4 steps"));
}

TEST(RecurrentTest, ActivationsThatDoNotFitAreErrors) {
  Net net;
  net.op = "RNN";
  const auto import = [&](std::vector<std::string> names, Values alphas) {
    net.activations = std::move(names);
    net.alphas = std::move(alphas);
    return ImportOf(net);
  };
  EXPECT_THAT(import({"Tanh", "Tanh"}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'activations' has 2 entries where 1")));
  EXPECT_THAT(import({"Erf"}, {}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("(RNN): the function 'Erf' of attribute "
                                 "'activations' is not supported")));
  EXPECT_THAT(import({"ScaledTanh"}, {1}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'activation_beta' has no number for "
                                 "'ScaledTanh'")));
  EXPECT_THAT(import({"LeakyRelu"}, {1, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'activation_alpha' has 2 numbers where the "
                                 "activations take 1")));
}

TEST(RecurrentTest, SequencesOfTooManyStepsAreNotSupported) {
  ModelBuilder b(14);
  b.Input("x", {1 << 20, 1, 1}).Input("w", {1, 1, 1}).Input("r", {1, 1, 1});
  b.Node("RNN", {"x", "w", "r"}, {"y"});
  b.Output("y");
  EXPECT_THAT(ImportModelProto(b.model()),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("a sequence of 1048576 steps")));
}

// Rows are sequences: the time comes second.
TEST(ReverseSequenceTest, ReversesUpToTheLengthOfEach) {
  const auto attributes = [](NodeBuilder n) {
    n.Int("batch_axis", 0).Int("time_axis", 1);
  };
  ExpectNear(
      RunNode(10, "ReverseSequence", {Count({3, 4})}, {{1, 3, 4}}, attributes),
      {3, 4}, {1, 2, 3, 4, 7, 6, 5, 8, 12, 11, 10, 9});
}

TEST(ReverseSequenceTest, TheTimeComesFirstByDefault) {
  ExpectNear(RunNode(10, "ReverseSequence", {Count({3, 2, 2})}, {{2, 3}}),
             {3, 2, 2}, {5, 6, 11, 12, 1, 2, 7, 8, 9, 10, 3, 4});
}

TEST(ReverseSequenceTest, AxesAndLengthsMustFit) {
  const auto import = [](int64_t batch_axis, int64_t count) {
    ModelBuilder b(10);
    b.Input("x", {3, 4})
        .Ints("lengths", {count}, std::vector<int64_t>(count, 1));
    b.Node("ReverseSequence", {"x", "lengths"}, {"y"})
        .Int("batch_axis", batch_axis);
    b.Output("y");
    return ImportModelProto(b.model()).status();
  };
  EXPECT_THAT(import(0, 3), StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr("are both 0")));
  EXPECT_THAT(import(1, 3), StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr("[3] where [4] is needed")));
}

}  // namespace
}  // namespace tilewright
