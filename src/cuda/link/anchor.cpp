// Compiled into whatever links ddpkit::cuda, so that the linker keeps it and its parts are known before main. Includes nothing,
// because it is installed alone.
namespace ddpkit::cuda {
int register_cuda() noexcept;
namespace {
[[maybe_unused]] const int registered = register_cuda();
}
}  // namespace ddpkit::cuda
