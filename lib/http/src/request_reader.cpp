#include "request_reader.hpp"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <cstring>
#include <optional>

namespace guestlist::http {
namespace {

namespace beast = boost::beast;
using beast::http::error;
using boost::system::error_code;

constexpr std::size_t first_buffer_bytes = 4096;

bool is_same_word(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool is_number(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

class RequestReader::Parser {
 public:
  explicit Parser(RequestReader& reader) : reader_(reader) {}

  void begin() {
    beast_.emplace(*this);
    beast_->eager(true);
    beast_->header_limit(reader_.max_header_bytes_);
    beast_->body_limit(reader_.max_body_bytes_);
    hosts_ = lengths_ = codings_ = 0;
  }
  std::size_t put(std::span<const char> bytes, error_code& code) {
    return beast_->put({bytes.data(), bytes.size()}, code);
  }
  bool is_done() const { return beast_->is_done(); }
  bool keeps_alive() const { return beast_->keep_alive(); }

 private:
  class Beast final : public beast::http::basic_parser<true> {
   public:
    explicit Beast(Parser& parser) : parser_(parser) {}

   private:
    using Text = beast::string_view;
    void on_request_impl(beast::http::verb, Text method, Text target, int version,
                         error_code&) override {
      parser_.on_request({method.data(), method.size()}, {target.data(), target.size()}, version);
    }
    void on_response_impl(int, Text, int, error_code&) override {}
    void on_field_impl(beast::http::field field, Text name, Text value, error_code& code) override {
      if (!parser_.accepts(field, {name.data(), name.size()}, {value.data(), value.size()}))
        code = error::bad_field;
    }
    void on_header_impl(error_code& code) override {
      if (!parser_.accepts_header()) code = error::bad_field;
    }
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(Text body, error_code&) override { return parser_.on_body(body); }
    void on_chunk_header_impl(std::uint64_t, Text extensions, error_code& code) override {
      if (!extensions.empty()) code = error::bad_chunk_extension;
    }
    std::size_t on_chunk_body_impl(std::uint64_t, Text body, error_code&) override {
      return parser_.on_body(body);
    }
    void on_finish_impl(error_code&) override {}

    Parser& parser_;
  };

  Place place(std::string_view text) const noexcept {
    return {static_cast<std::size_t>(text.data() - reader_.buffer_.data()), text.size()};
  }
  void on_request(std::string_view method, std::string_view target, int version) {
    reader_.method_ = place(method);
    reader_.target_ = place(target);
    reader_.is_http_1_0_ = version == 10;
  }

  bool accepts(beast::http::field known, std::string_view name, std::string_view value) {
    using beast::http::field;
    const bool is_trailer = reader_.has_header_;
    if (is_trailer || is_folded_after(name)) return false;
    switch (known) {
      case field::host:
        ++hosts_;
        break;
      case field::content_length:
        if (++lengths_ > 1 || !is_number(value)) return false;
        break;
      case field::transfer_encoding:
        if (++codings_ > 1 || !is_same_word(value, "chunked") || reader_.is_http_1_0_) return false;
        break;
      case field::expect:
        reader_.wants_continue_ = is_same_word(value, "100-continue");
        break;
      default:
        break;
    }
    reader_.fields_.emplace_back(place(name),
                                 value.empty() ? Place{place(name).at, 0} : place(value));
    return true;
  }

  /// Beast joins folded lines.
  bool is_folded_after(std::string_view name) const noexcept {
    const char* const end = reader_.buffer_.data() + reader_.end_;
    const char* const line = static_cast<const char*>(
        std::memchr(name.data(), '\n', static_cast<std::size_t>(end - name.data())));
    return line != nullptr && line + 1 < end && (line[1] == ' ' || line[1] == '\t');
  }

  bool accepts_header() {
    reader_.has_header_ = true;
    return hosts_ == 1 || (hosts_ == 0 && reader_.is_http_1_0_);
  }

  std::size_t on_body(beast::string_view bytes) {
    reader_.body_.append(bytes.data(), bytes.size());
    return bytes.size();
  }

  RequestReader& reader_;
  std::optional<Beast> beast_;
  int hosts_ = 0;
  int lengths_ = 0;
  int codings_ = 0;
};

RequestReader::RequestReader(std::uint32_t max_header_bytes, std::uint64_t max_body_bytes)
    : max_header_bytes_(max_header_bytes),
      max_body_bytes_(max_body_bytes),
      parser_(std::make_unique<Parser>(*this)) {
  begin();
}
RequestReader::~RequestReader() = default;

void RequestReader::begin() {
  state_ = State::needs_more;
  has_header_ = false;
  wants_continue_ = false;
  fields_.clear();
  body_.clear();
  parser_->begin();
}

std::span<char> RequestReader::room() {
  if (buffer_.empty()) buffer_.resize(first_buffer_bytes);
  if (begin_ == end_ || end_ == buffer_.size()) move_to_front();
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  return std::span(buffer_).subspan(end_);
}

void RequestReader::move_to_front() {
  if (begin_ == 0) return;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  method_.at -= begin_;
  target_.at -= begin_;
  for (auto& [name, value] : fields_) {
    name.at -= begin_;
    value.at -= begin_;
  }
  parsed_ -= begin_;
  end_ -= begin_;
  begin_ = 0;
}

RequestReader::State RequestReader::read() {
  while (state_ == State::needs_more) {
    error_code code;
    parsed_ += parser_->put(std::span(buffer_).subspan(parsed_, end_ - parsed_), code);
    if (code && code != error::need_more) {
      refusal_ = code == error::header_limit ? 431 : code == error::body_limit ? 413 : 400;
      state_ = State::refused;
    } else if (parser_->is_done()) {
      keeps_alive_ = parser_->keeps_alive();
      state_ = State::complete;
    } else if (code == error::need_more || parsed_ == end_) {
      if (has_header_) forget_body();
      break;
    }
  }
  return state_;
}

/// The body has been copied; the fields are still needed, and the beginning of a chunk's header.
void RequestReader::forget_body() {
  std::size_t header_end = target_.at + target_.size;
  for (const auto& [name, value] : fields_) {
    header_end = std::max({header_end, name.at + name.size, value.at + value.size});
  }
  const std::size_t left = end_ - parsed_;
  std::memmove(buffer_.data() + header_end, buffer_.data() + parsed_, left);
  parsed_ = header_end;
  end_ = header_end + left;
  // A chunk's header of any length would be read for ever.
  if (left > max_header_bytes_) state_ = State::refused;
}

HttpRequestView RequestReader::request() {
  views_.clear();
  for (const auto& [name, value] : fields_) views_.emplace_back(text(name), text(value));
  return {text(method_), text(target_), body_, views_};
}

void RequestReader::next() {
  begin_ = parsed_;
  begin();
}

}  // namespace guestlist::http
