#include "guestlist/base/error.hpp"

#include <cerrno>

namespace guestlist {
namespace {

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "guestlist"; }
  std::string message(int value) const override { return describe(static_cast<Errc>(value)); }
};

}  // namespace

const char* describe(Errc reason) noexcept {
  switch (reason) {
    case Errc::invalid_argument:
      return "a parameter is not acceptable";
    case Errc::too_large:
      return "more was asked for than a limit allows";
    case Errc::not_found:
      return "there is no such thing";
    case Errc::already_exists:
      return "it exists already, with other parameters";
    case Errc::unreadable:
      return "it cannot be read";
    case Errc::unwritable:
      return "it cannot be written";
    case Errc::truncated:
      return "the data is shorter than its header says";
    case Errc::corrupt:
      return "the data is damaged";
    case Errc::foreign_format:
      return "the data is in another format";
    case Errc::newer_version:
      return "the data is of a newer version";
    case Errc::mismatched:
      return "the two do not have the same shape";
    case Errc::full:
      return "there is no room left";
    case Errc::unavailable:
      return "the service did not answer";
    case Errc::deadline_exceeded:
      return "the time given was over";
    case Errc::cancelled:
      return "the caller gave up";
    case Errc::overloaded:
      return "too much is waiting already";
  }
  return "an unknown reason";
}

const std::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

std::error_code make_error_code(Errc reason) noexcept {
  return {static_cast<int>(reason), error_category()};
}

std::string Error::message() const {
  return detail.empty() ? code.message() : detail;
}

Error errno_error(Errc reason, std::string detail) {
  const std::error_code system(errno, std::generic_category());
  return Error{make_error_code(reason), std::move(detail) + ": " + system.message()};
}

}  // namespace guestlist
