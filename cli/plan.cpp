#include "commands.hpp"
#include "trouble.hpp"

namespace probably::cli {

int run(const PlanOptions& /*options*/, const StopFlag& /*stop*/) { throw Trouble("not yet"); }

}  // namespace probably::cli
