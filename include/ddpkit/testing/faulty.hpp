#pragma once

#include <cstddef>
#include <latch>
#include <memory>

#include "ddpkit/comm/communicator.hpp"

namespace ddpkit::testing {

/// What goes wrong with one of the asynchronous operations.
struct Fault {
  enum class Kind {
    fail,   ///< not sent; waiting for it throws CommError
    delay,  ///< held back, with all that follow, so that the order stays as issued
    drop,   ///< not sent; waiting for it throws CommError as if the time limit had passed
  };
  Kind kind = Kind::fail;
  std::size_t operation = 0;  ///< which one, counted from 0 over all asynchronous operations
  /// Of a delay without a latch: held back until so many more have been issued, or until someone waits for one of them.
  std::size_t later_operations = 0;
  /// Of a delay: held back until the latch is open; who waits for the operation waits for the latch. Must outlive its use.
  std::latch* until = nullptr;
};

/// Passes everything on to another communicator, which must outlive it, and spoils one operation.
class FaultyCommunicator final : public Communicator {
 public:
  FaultyCommunicator(Communicator& inner, const Fault& fault);
  ~FaultyCommunicator() override;

  std::string_view backend() const noexcept override { return "faulty"; }

 private:
  class Hold;
  class Held;

  Memory do_allocate(std::size_t bytes) override;
  Work do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) override;
  Work do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) override;
  Work do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) override;
  Work do_broadcast(Buffer data, int root, std::string_view tag) override;
  void do_barrier() override;
  std::unique_ptr<Communicator> do_split(int color, int key) override;
  void do_abort(const Error& reason) noexcept override;

  template <class Start>
  Work pass(std::string_view operation, std::string_view tag, Start start);
  Work spoil(std::string_view operation, std::string_view tag) const;

  Communicator& inner_;
  Fault fault_;
  std::size_t issued_ = 0;
  std::shared_ptr<Hold> hold_;
};

}  // namespace ddpkit::testing
