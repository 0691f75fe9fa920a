#include "ddpkit/comm/make_communicator.hpp"

#include "ddpkit/comm/nccl_factory.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

std::unique_ptr<Communicator> pretend_nccl(Communicator& control, Device, const CommOptions&) {
  return control.split(0, 0);
}

struct LinkedNccl {
  LinkedNccl() { set_nccl_factory(pretend_nccl); }
  ~LinkedNccl() { set_nccl_factory(nullptr); }
};

}  // namespace

TEST_CASE("without a launcher a program is one rank by itself") {
  const auto comm = make_communicator();
  CHECK(comm->backend() == "local");
  CHECK(comm->world_size() == 1);
}

TEST_CASE("data on the CPU goes through a duplicate of control") {
  const auto control = make_communicator();
  const auto data = make_data_communicator(*control, {});
  CHECK(data.get() != control.get());
  CHECK(data->world_size() == control->world_size());
  CHECK_THROWS_AS(make_data_communicator(*control, {}, {.backend = Backend::nccl}), ConfigError);
}

TEST_CASE("data on a GPU needs NCCL, and finds it when it is linked") {
  const auto control = make_communicator();
  const Device gpu{.type = Device::Type::cuda, .index = 0, .stream = nullptr};
  CHECK_THROWS_WITH(make_data_communicator(*control, gpu), Catch::Matchers::Contains("ddpkit::cuda"));
  const LinkedNccl linked;
  CHECK(make_data_communicator(*control, gpu) != nullptr);
  CHECK_THROWS_AS(make_data_communicator(*control, gpu, {.backend = Backend::mpi}), ConfigError);
}
