// Steps whose backward is repeated instead of called, with a stand-in for a CUDA graph. As with a graph, the loss function and
// the hooks run on the host only while it is recorded; what the device would do again, the stand-in does behind their backs.
#include "step/recorded_pass.hpp"

#include <torch/torch.h>

#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "ddpkit/reduce/inline_reducer.hpp"
#include "support/catch.hpp"

namespace {

using namespace ddpkit;

Batch rows_of(double value, std::int64_t rows = 2) {
  return Batch({{"input", torch::full({rows, 3}, value)}});
}

/// The mean of input * weight, on which a pass was recorded.
class Recording {
 public:
  explicit Recording(Reducer& reducer, torch::Tensor weight)
      : reducer_(reducer), weight_(std::move(weight)), pass_(reducer, std::make_unique<Graph>(*this)) {}

  /// One window; returns the loss. The gradient is in the weight.
  double run(const Batch& batch) {
    weight_.mutable_grad().reset();
    const Loss loss = pass_.run(batch, 1, [this](const Batch& input) { return forward_and_backward(input); });
    const double value = loss.mean.item<double>();
    reducer_.finish();
    last_place_ = weight_.grad();
    return value;
  }

  int calls = 0;  // of the loss function
  int replays = 0;

 private:
  class Graph final : public DeviceGraph {
   public:
    explicit Graph(Recording& owner) : owner_(owner) {}
    void record(const std::function<void()>& body) override {
      body();
      owner_.end_recording();
    }
    void replay() override { owner_.replay(); }

   private:
    Recording& owner_;
  };

  Loss forward_and_backward(const Batch& batch) {
    ++calls;
    input_ = batch.input();
    torch::Tensor loss = (input_ * weight_).sum(1).mean();
    loss.backward();
    loss_ = loss.detach();
    return loss_;
  }

  /// The reducer has moved the gradient to where the last window's was, or has left it alone.
  void end_recording() {
    place_ = weight_.grad().defined() ? weight_.grad() : last_place_;
    place_.fill_(-1);  // recorded is not carried out
    recorded_input_ = input_;
    recorded_loss_ = loss_;
  }

  void replay() {
    ++replays;
    const torch::NoGradGuard no_graph;
    place_.copy_(recorded_input_.mean(0));
    recorded_loss_.copy_((recorded_input_ * weight_).sum(1).mean());
  }

  Reducer& reducer_;
  torch::Tensor weight_;
  RecordedPass pass_;
  torch::Tensor input_, loss_;                            // of the last call
  torch::Tensor recorded_input_, recorded_loss_, place_;  // what the recorded work reads and writes
  torch::Tensor last_place_;
};

double mean_over_ranks(const Communicator& comm, double of_rank_0) {
  return of_rank_0 + (comm.world_size() - 1) / 2.0;
}

void expect_windows_right(Communicator& comm, Reducer& reducer, torch::Tensor& weight) {
  Recording recording(reducer, weight);
  for (int window = 0; window < 8; ++window) {
    const double mine = 10.0 * window + comm.rank();
    CHECK(recording.run(rows_of(mine)) == Approx(3 * mine));
    CHECK(torch::allclose(weight.grad(), torch::full({3}, mean_over_ranks(comm, 10.0 * window))));
  }
  CHECK(recording.calls == 4);  // three to warm up, one that is recorded
  CHECK(recording.replays == 5);
}

}  // namespace

TEST_CASE("a backward that is repeated counts as one that was called") {
  const auto comm = make_communicator();
  torch::Tensor weight = torch::ones({3}).requires_grad_(true);
  const std::vector<NamedTensor> parameters{{"weight", weight}};
  SECTION("for the reducer of buckets") {
    GradReducer reducer(parameters, *comm);
    expect_windows_right(*comm, reducer, weight);
  }
  SECTION("for the plain reducer") {
    InlineReducer reducer(parameters, *comm);
    expect_windows_right(*comm, reducer, weight);
  }
}

TEST_CASE("a shorter window than the recorded one takes the ordinary way") {
  const auto comm = make_communicator();
  torch::Tensor weight = torch::ones({3}).requires_grad_(true);
  GradReducer reducer(std::vector<NamedTensor>{{"weight", weight}}, *comm);
  Recording recording(reducer, weight);
  for (int window = 0; window < 5; ++window) recording.run(rows_of(1));
  CHECK(recording.run(rows_of(2, 1)) == Approx(6));
  CHECK(torch::allclose(weight.grad(), torch::full({3}, 2.0)));
  CHECK(recording.run(rows_of(4)) == Approx(12));
  CHECK(torch::allclose(weight.grad(), torch::full({3}, 4.0)));
  CHECK(recording.calls == 5);
  CHECK(recording.replays == 3);
}

TEST_CASE("shapes that change again and again are not recorded but refused") {
  const auto comm = make_communicator();
  torch::Tensor weight = torch::ones({3}).requires_grad_(true);
  GradReducer reducer(std::vector<NamedTensor>{{"weight", weight}}, *comm);
  Recording recording(reducer, weight);
  const auto run_all = [&] {
    for (int window = 0; window < 20; ++window) recording.run(rows_of(1, 1 + window % 2));
  };
  CHECK_THROWS_WITH(run_all(), Catch::Contains("step.cuda_graph: off"));
  CHECK(recording.replays == 0);
}
