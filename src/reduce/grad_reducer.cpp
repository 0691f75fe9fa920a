#include "ddpkit/reduce/grad_reducer.hpp"

#include "reduce/reduce_engine.hpp"

namespace ddpkit {

GradReducer::GradReducer(std::vector<NamedTensor> parameters, Channels channels, const ReducerOptions& options)
    : engine_(std::make_unique<Engine>(std::move(parameters), channels, options, modes())) {}

GradReducer::~GradReducer() = default;

double GradReducer::finish_unscaled(std::span<double> rider) {
  return engine_->finish(rider);
}
void GradReducer::remember_backward() {
  engine_->remember_backward();
}
void GradReducer::repeat_backward() {
  engine_->repeat_backward();
}
void GradReducer::discard() {
  engine_->discard();
}
void GradReducer::abandon(std::span<double> rider) {
  engine_->abandon(rider);
}
double GradReducer::local_squared_norm() {
  return engine_->local_squared_norm();
}
int GradReducer::given_up() const noexcept {
  return engine_->given_up();
}
void GradReducer::apply_scale(double scale) {
  engine_->apply_scale(scale);
}
const ReduceCounters& GradReducer::counters() const noexcept {
  return engine_->counters();
}
std::vector<at::Tensor> GradReducer::gradients() const {
  return engine_->gradients();
}
Channels GradReducer::channels() const noexcept {
  return engine_->channels();
}
const BucketPlan& GradReducer::plan() const noexcept {
  return engine_->plan();
}
std::vector<NamedTensor> GradReducer::parameters() const {
  return engine_->parameters();
}
Delivery GradReducer::delivery() const noexcept {
  return engine_->delivery();
}
int GradReducer::plans() const noexcept {
  return engine_->plans();
}
std::span<const std::byte* const> GradReducer::kept(std::size_t index) const noexcept {
  return engine_->kept(index);
}
ReduceOp GradReducer::kept_op() const noexcept {
  return engine_->kept_op();
}
double GradReducer::kept_squared_norms() const noexcept {
  return engine_->kept_squared_norms();
}
std::vector<GradientSpec> GradReducer::gradient_specs() const {
  return engine_->gradient_specs();
}
void GradReducer::set_plan(const BucketPlan& plan) {
  engine_->set_plan(plan);
}
void GradReducer::record_readiness(Readiness readiness) {
  engine_->record_readiness(readiness);
}
std::vector<GradReducer::Moment> GradReducer::ready_moments() const {
  return engine_->ready_moments();
}
std::vector<std::string> GradReducer::unused() const {
  return engine_->unused();
}

}  // namespace ddpkit
