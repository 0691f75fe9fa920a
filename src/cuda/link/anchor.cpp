// Compiled into whatever links ddpkit::cuda, so that the linker keeps it and NCCL is known before main. Includes nothing,
// because it is installed alone.
namespace ddpkit::cuda {
int register_nccl() noexcept;
namespace {
[[maybe_unused]] const int registered = register_nccl();
}
}  // namespace ddpkit::cuda
