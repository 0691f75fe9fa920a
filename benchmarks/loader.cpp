// build/benchmarks/loader
//
// How many batches a second come out of data in memory: ddpkit's loader against LibTorch's, each with several numbers of
// workers.
#include <torch/data.h>

#include <memory>
#include <optional>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/data/loader.hpp"
#include "ddpkit/data/make_order.hpp"
#include "ddpkit/tensor/batch.hpp"
#include "ddpkit/tensor/tensor_dataset.hpp"
#include "harness/main.hpp"
#include "training/torch_facts.hpp"

namespace {

namespace td = torch::data;

constexpr std::int64_t kSamples = 60'000;
constexpr std::int64_t kBatch = 128;

struct Data {
  torch::Tensor input = torch::rand({kSamples, 1, 28, 28});
  torch::Tensor target = torch::arange(kSamples);
};

class TorchSamples final : public td::datasets::Dataset<TorchSamples> {
 public:
  explicit TorchSamples(const Data& data) : data_(data) {}
  td::Example<> get(std::size_t index) override {
    const auto row = static_cast<std::int64_t>(index);
    return {data_.input[row], data_.target[row]};
  }
  std::optional<std::size_t> size() const override { return kSamples; }

 private:
  Data data_;
};

// Every row of the batch must be the sample that its label names.
void check(const Data& data, const torch::Tensor& input, const torch::Tensor& target) {
  if (!torch::equal(input, data.input.index_select(0, target)))
    throw ddpkit::DataError("a batch holds other samples than it says");
}

bench::Block torch_loader(const Data& data, std::size_t workers) {
  const auto set = TorchSamples(data).map(td::transforms::Stack<>());
  const auto options = td::DataLoaderOptions().batch_size(kBatch).workers(workers).drop_last(true);
  const auto loader = std::shared_ptr(td::make_data_loader<td::samplers::RandomSampler>(set, options));
  auto at = std::make_shared<decltype(loader->begin())>(loader->begin());
  check(data, (*at)->data, (*at)->target);
  return [loader, at](int batches) {
    return bench::seconds_of([&] {
      for (int i = 0; i < batches; ++i)
        if (++*at == loader->end()) *at = loader->begin();
    });
  };
}

bench::Block ddpkit_loader(const Data& data, const ddpkit::Dataset& set, const ddpkit::Order& order, std::int64_t workers) {
  const auto loader = std::make_shared<ddpkit::Loader>(
      set, order, ddpkit::LoaderOptions{.sampler = {.global = kBatch}, .micro = kBatch, .workers = workers});
  const ddpkit::Batch first(loader->next_window().fetch(0));
  check(data, first.input(), first.target());
  return [loader](int batches) {
    return bench::seconds_of([&] {
      for (int i = 0; i < batches; ++i) const ddpkit::Batch batch(loader->next_window().fetch(0));
    });
  };
}

void measure(bench::Session& session) {
  const Data data;
  const ddpkit::InMemoryDataset set = ddpkit::tensor_dataset({{"input", data.input}, {"target", data.target}});
  const auto order = ddpkit::make_order(set.size(), {.seed = 1});
  bench::Rounds rounds = session.rounds(31);
  std::vector<std::string> ours, theirs;
  for (const int workers : {0, 1, 2}) {
    ours.push_back(ddpkit::text("ddpkit, workers ", workers));
    theirs.push_back(ddpkit::text("torch::data, workers ", workers));
    rounds.add(ours.back(), ddpkit_loader(data, set, *order, workers));
    rounds.add(theirs.back(), torch_loader(data, static_cast<std::size_t>(workers)));
  }
  rounds.run();
  session.report.keep("batches of 128 out of memory", rounds.samples());
  session.report.add({.id = "C15",
                      .what = ddpkit::text("in-memory data, batch ", kBatch),
                      .against = rounds.fastest(theirs),
                      .target = bench::at_least(4),
                      .measured = rounds.compare(rounds.fastest(ours), rounds.fastest(theirs), bench::speed_up),
                      .note = rounds.fastest(ours)});
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, {.name = "loader", .ranks = bench::Program::Ranks::one_process, .facts = bench::torch_facts},
                    measure);
}
