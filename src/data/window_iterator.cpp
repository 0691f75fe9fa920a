#include "ddpkit/data/window_iterator.hpp"

#include "ddpkit/data/loader.hpp"

namespace ddpkit {

WindowIterator::WindowIterator(Loader& loader, std::int64_t count) : loader_(&loader), left_(count) {
  ++*this;
}

WindowIterator& WindowIterator::operator++() {
  current_.reset();
  if (left_-- > 0) current_ = loader_->next_window();
  return *this;
}

}  // namespace ddpkit
