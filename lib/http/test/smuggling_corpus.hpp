#pragma once

// Requests that two readers could take for different ones. Each must be refused, however its bytes
// arrive. Source: RFC 9112 sections 2.2, 5, 6, 11.2.

#include <string>
#include <vector>

namespace guestlist {

struct Ambiguous {
  const char* name;
  std::string bytes;
  unsigned status = 400;
};

inline std::vector<Ambiguous> smuggling_corpus() {
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n";
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
  const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
  const std::string nul(1, '\0');
  return {
      {"CL then TE", post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"TE then CL", post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"},
      {"two CL", post + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd"},
      {"two CL alike", post + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd"},
      {"CL list", post + "Content-Length: 4, 4\r\n\r\nabcd"},
      {"CL +4", post + "Content-Length: +4\r\n\r\nabcd"},
      {"CL -1", post + "Content-Length: -1\r\n\r\nabcd"},
      {"CL 0x4", post + "Content-Length: 0x4\r\n\r\nabcd"},
      {"CL 4 4", post + "Content-Length: 4 4\r\n\r\nabcd"},
      {"CL empty", post + "Content-Length: \r\n\r\n"},
      {"CL too large for 64 bits", post + "Content-Length: 18446744073709551620\r\n\r\nabcd"},
      {"TE gzip, chunked", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
      {"TE identity", post + "Transfer-Encoding: identity\r\n\r\n"},
      {"TE xchunked", post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"},
      {"TE quoted", post + "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"},
      {"TE twice",
       post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"TE twice, one unknown",
       post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n"},
      {"TE with a vertical tab", post + "Transfer-Encoding: \x0b"
                                        "chunked\r\n\r\n0\r\n\r\n"},
      {"TE and HTTP/1.0",
       "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"space before the colon", post + "Content-Length : 4\r\n\r\nabcd"},
      {"tab before the colon", post + "Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n"},
      {"no name", get + ": x\r\n\r\n"},
      {"no colon", get + "X\r\n\r\n"},
      {"folded line", get + "X: a\r\n b\r\n\r\n"},
      {"folded line by a tab", get + "X: a\r\n\tb\r\n\r\n"},
      {"folded line after nothing", get + "X:\r\n b\r\n\r\n"},
      {"folded CL", post + "Content-Length:\r\n 4\r\n\r\nabcd"},
      {"folded nothing", get + "X: a\r\n \r\n\r\n"},
      {"space before the first field", "GET / HTTP/1.1\r\n Host: a\r\n\r\n"},
      {"bare LF", "GET / HTTP/1.1\nHost: a\n\n"},
      {"bare LF in one line", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"},
      {"bare LF at the end", "GET / HTTP/1.1\r\nHost: a\r\n\nX: y\r\n\r\n"},
      {"bare CR in a value", get + "X: a\rb\r\n\r\n"},
      {"bare CR in the request line", "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"NUL in a value", get + "X: a" + nul + "b\r\n\r\n"},
      {"NUL in a name", get + "X" + nul + ": b\r\n\r\n"},
      {"NUL in the target", "GET /" + nul + " HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"two spaces", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n"},
      {"HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n"},
      {"HTTP/2's beginning", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
      {"http/1.1", "GET / http/1.1\r\nHost: a\r\n\r\n"},
      {"no version", "GET /\r\nHost: a\r\n\r\n"},
      {"no Host", "GET / HTTP/1.1\r\n\r\n"},
      {"two Hosts", get + "Host: a\r\n\r\n"},
      {"two Hosts and HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"},
      {"chunk extension", chunked + "1;x=y\r\na\r\n0\r\n\r\n"},
      {"extension of the last chunk", chunked + "1\r\na\r\n0;x\r\n\r\n"},
      {"chunk size 0x1", chunked + "0x1\r\na\r\n0\r\n\r\n"},
      {"chunk size -1", chunked + "-1\r\na\r\n0\r\n\r\n"},
      {"chunk size too large", chunked + "10000000000000001\r\na\r\n0\r\n\r\n"},
      {"bare LF after a chunk size", chunked + "1\na\r\n0\r\n\r\n"},
      {"bare LF after a chunk", chunked + "1\r\na\n0\r\n\r\n"},
      {"chunk longer than its size", chunked + "1\r\nab\r\n0\r\n\r\n"},
      {"trailer", chunked + "0\r\nX: y\r\n\r\n"},
      {"trailer with a CL", chunked + "0\r\nContent-Length: 5\r\n\r\n"},
      {"nonsense", "nonsense\r\n\r\n"},
      {"binary", std::string("\0\0\0\0\r\n\r\n", 8)},
      {"TLS", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15)},
      {"long header", get + "X: " + std::string(20'000, 'x') + "\r\n\r\n", 431},
      {"long request line", "GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n",
       431},
      {"long body", post + "Content-Length: 2000\r\n\r\n", 413},
      {"long chunked body", chunked + "7d0\r\n", 413},
  };
}

}  // namespace guestlist
