#pragma once

#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/testing/op_log.hpp"

namespace ddpkit::testing {

/// Passes everything on to another communicator and writes down what was issued. Both must outlive it.
class LoggedCommunicator final : public Communicator {
 public:
  LoggedCommunicator(Communicator& inner, OpLog& log) : Communicator(inner.topology()), inner_(inner), log_(log) {}

  std::string_view backend() const noexcept override { return inner_.backend(); }

 private:
  Memory do_allocate(std::size_t bytes) override;
  Work do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) override;
  Work do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) override;
  Work do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) override;
  Work do_broadcast(Buffer data, int root, std::string_view tag) override;
  void do_barrier() override;
  std::unique_ptr<Communicator> do_split(int color, int key) override;
  void do_abort(const Error& reason) noexcept override { inner_.abort(reason); }

  Communicator& inner_;
  OpLog& log_;
};

}  // namespace ddpkit::testing
