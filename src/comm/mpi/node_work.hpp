#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "comm/mpi/node_engine.hpp"
#include "ddpkit/comm/work.hpp"

namespace ddpkit::mpi {

/// A started operation of a NodeEngine. Whoever waits does this rank's part.
class NodeWork final : public Work::State {
 public:
  NodeWork(std::shared_ptr<NodeEngine> engine, std::uint64_t number) : engine_(std::move(engine)), number_(number) {}

  void wait() override { engine_->finish(number_); }
  void synchronize() override { engine_->finish(number_); }
  bool done() override { return engine_->advance(number_); }

 private:
  std::shared_ptr<NodeEngine> engine_;
  std::uint64_t number_;
};

}  // namespace ddpkit::mpi
