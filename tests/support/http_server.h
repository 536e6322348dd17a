// A tiny HTTP server on loopback for download tests: serves bytes by path, honours Range, can break off a
// transfer once, and counts requests.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

namespace graphpae::test {

class HttpServer {
 public:
  std::map<std::string, std::string> files;  // path -> content; fill before the first request
  std::atomic<int> requests{0};
  std::atomic<int64_t> break_after{-1};  // bytes of the next body before the connection breaks, once
  std::atomic<bool> ranges{true};
  std::string last_range;

  HttpServer() {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    ::listen(listener_, 8);
    socklen_t size = sizeof(address);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~HttpServer() {
    ::shutdown(listener_, SHUT_RDWR);
    ::close(listener_);
    thread_.join();
  }

  std::string url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }

 private:
  void serve() {
    while (true) {
      const int client = ::accept(listener_, nullptr, nullptr);
      if (client < 0) return;
      answer(client);
      ::shutdown(client, SHUT_RDWR);
      ::close(client);
    }
  }

  void answer(int client) {
    ++requests;
    std::string request;
    char buffer[4096];
    while (request.find("\r\n\r\n") == std::string::npos) {
      const ssize_t got = ::recv(client, buffer, sizeof(buffer), 0);
      if (got <= 0) return;
      request.append(buffer, got);
    }
    const size_t space = request.find(' ');
    const std::string path = request.substr(space + 1, request.find(' ', space + 1) - space - 1);
    const auto file = files.find(path);
    if (file == files.end())
      return send(client, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    size_t start = 0;
    const size_t range = request.find("Range: bytes=");
    last_range = range == std::string::npos ? "" : request.substr(range, request.find("\r\n", range) - range);
    if (range != std::string::npos && ranges) start = std::strtoull(request.c_str() + range + 13, nullptr, 10);
    if (start > file->second.size())
      return send(client, "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    std::string body = file->second.substr(start);
    std::string head = start > 0 ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(start) +
                                       "-" + std::to_string(file->second.size() - 1) + "/" +
                                       std::to_string(file->second.size()) + "\r\n"
                                 : "HTTP/1.1 200 OK\r\n";
    head += "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n";
    const int64_t limit = break_after.exchange(-1);
    if (limit >= 0) body.resize(limit);
    send(client, head + body);
  }

  static void send(int client, const std::string& bytes) {
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t got = ::send(client, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (got <= 0) return;
      sent += got;
    }
  }

  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace graphpae::test
