#include "manual.hpp"

#include "trouble.hpp"

namespace probably::cli {

std::string manual_page(const CLI::App& /*app*/) { throw Trouble("not yet"); }

}  // namespace probably::cli
