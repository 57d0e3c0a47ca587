#include "commands.hpp"
#include "trouble.hpp"

namespace probably::cli {

int run(const DemoOptions& /*options*/, const StopFlag& /*stop*/) { throw Trouble("not yet"); }

}  // namespace probably::cli
