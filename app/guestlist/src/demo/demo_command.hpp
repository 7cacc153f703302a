#pragma once

namespace CLI {
class App;
}

namespace guestlist {

/// Adds `demo`: the main job on real input, in minutes, with a table at the end. When the call was
/// `demo`, `status` becomes the exit status.
void add_demo_command(CLI::App& app, int& status);

}  // namespace guestlist
