#include "ddpkit/batch/finding.hpp"

namespace ddpkit {

std::string_view word_for(Judgement judgement) {
  switch (judgement) {
    case Judgement::good: return "good";
    case Judgement::look: return "look";
    case Judgement::bad: return "bad";
    case Judgement::open: return "not judged";
  }
  return "";
}

}  // namespace ddpkit
