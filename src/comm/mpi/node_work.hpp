#pragma once

#include <array>
#include <atomic>
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

  /// For another operation, once nobody else holds it.
  void renew(std::uint64_t number) noexcept { number_ = number; }

 private:
  std::shared_ptr<NodeEngine> engine_;
  std::uint64_t number_;
};

/// Works that are used again as soon as nobody holds them any more: the steady state allocates none.
class NodeWorks {
 public:
  Work take(const std::shared_ptr<NodeEngine>& engine, std::uint64_t number) {
    std::shared_ptr<NodeWork>& work = works_[number % works_.size()];
    if (work.use_count() != 1) {
      work = std::make_shared<NodeWork>(engine, number);
    } else {
      std::atomic_thread_fence(std::memory_order_acquire);  // after what the last holder did
      work->renew(number);
    }
    return Work(work);
  }

 private:
  std::array<std::shared_ptr<NodeWork>, NodeBoard::kOutstanding> works_;
};

}  // namespace ddpkit::mpi
