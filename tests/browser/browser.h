// A headless Chromium as tests drive it: through chromedriver, by the WebDriver protocol.
#pragma once

#include <curl/curl.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temp_dir.h"

namespace graphpae::test {

class Browser {
 public:
  using Json = nlohmann::json;

  // Throws if there is no browser: what cannot be tested is not passed over.
  Browser() {
    start_driver();
    const Json options = {
        {"args",
         {"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
          "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
          "--user-data-dir=" + (directory_ / "profile"), "--window-size=1200,900"}}};
    const Json answer = call(
        "POST", "/session",
        {{"capabilities",
          {{"alwaysMatch",
            {{"goog:chromeOptions", options}, {"goog:loggingPrefs", {{"browser", "ALL"}, {"performance", "ALL"}}}}}}}});
    session_ = "/session/" + answer.at("sessionId").get<std::string>();
  }
  ~Browser() {
    try {
      if (!session_.empty()) call("DELETE", session_, {});
    } catch (const std::exception&) {
    }
    ::kill(driver_, SIGTERM);
    ::waitpid(driver_, nullptr, 0);
  }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  void open(const std::string& file) { call("POST", session_ + "/url", {{"url", "file://" + file}}); }

  // The value of a script's return statement.
  Json run(const std::string& script) {
    return call("POST", session_ + "/execute/sync", {{"script", script}, {"args", Json::array()}});
  }

  void click(const std::string& css) { call("POST", element(css) + "/click", Json::object()); }
  void type(const std::string& css, const std::string& keys) {
    call("POST", element(css) + "/value", {{"text", keys}});
  }
  // Moves the mouse to a place in the window.
  void point(double x, double y) {
    const Json move = {
        {"type", "pointerMove"}, {"duration", 0}, {"x", static_cast<int>(x)}, {"y", static_cast<int>(y)}};
    call("POST", session_ + "/actions",
         {{"actions",
           {{{"type", "pointer"}, {"id", "mouse"}, {"parameters", {{"pointerType", "mouse"}}}, {"actions", {move}}}}}});
  }

  void use_dark(bool dark) {
    dark_ = dark;
    emulate_media();
  }
  // As on paper, but on the screen.
  void use_print(bool print) {
    print_ = print;
    emulate_media();
  }
  // The page as it is printed, as base64 of a PDF.
  std::string paper() { return cdp("Page.printToPDF", {{"printBackground", false}}).at("data").get<std::string>(); }
  void set_width(int width) {
    cdp("Emulation.setDeviceMetricsOverride",
        {{"width", width}, {"height", 900}, {"deviceScaleFactor", 1}, {"mobile", false}});
  }
  // Of the whole page, as base64 of a PNG.
  std::string screenshot() {
    return cdp("Page.captureScreenshot", {{"captureBeyondViewport", true}}).at("data").get<std::string>();
  }

  // What the page said on the console since the last call: messages of errors and warnings.
  std::vector<std::string> complaints() {
    std::vector<std::string> found;
    for (const Json& entry : call("POST", session_ + "/se/log", {{"type", "browser"}})) {
      if (entry.at("level") != "INFO" && entry.at("level") != "DEBUG") found.push_back(entry.at("message"));
    }
    return found;
  }
  // Addresses asked for since the last call.
  std::vector<std::string> requests() {
    std::vector<std::string> found;
    for (const Json& entry : call("POST", session_ + "/se/log", {{"type", "performance"}})) {
      const Json message = Json::parse(entry.at("message").get<std::string>()).at("message");
      if (message.at("method") == "Network.requestWillBeSent")
        found.push_back(message.at("params").at("request").at("url"));
    }
    return found;
  }

 private:
  void start_driver() {
    int out[2];
    if (::pipe(out) != 0) throw std::runtime_error("no pipe for chromedriver");
    driver_ = ::fork();
    if (driver_ == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
      ::close(out[0]);
      ::execlp("chromedriver", "chromedriver", "--port=0", nullptr);
      ::_exit(127);
    }
    ::close(out[1]);
    // "ChromeDriver was started successfully on port 40123."
    FILE* lines = ::fdopen(out[0], "r");
    for (char line[1024]; port_ == 0 && std::fgets(line, sizeof(line), lines) != nullptr;) {
      const std::string text = line;
      if (const size_t at = text.find("successfully on port "); at != std::string::npos)
        port_ = std::atoi(text.c_str() + at + 21);
    }
    if (port_ == 0)
      throw std::runtime_error("chromedriver does not start: the packages of scripts/test_packages.txt are needed");
    // Kept open, so that the driver may go on writing.
    output_.reset(lines);
  }

  void emulate_media() {
    cdp("Emulation.setEmulatedMedia",
        {{"media", print_ ? "print" : ""},
         {"features", {{{"name", "prefers-color-scheme"}, {"value", dark_ ? "dark" : "light"}}}}});
  }

  std::string element(const std::string& css) {
    const Json found = call("POST", session_ + "/element", {{"using", "css selector"}, {"value", css}});
    return session_ + "/element/" + found.begin().value().get<std::string>();
  }

  Json cdp(const std::string& command, const Json& parameters) {
    return call("POST", session_ + "/goog/cdp/execute", {{"cmd", command}, {"params", parameters}});
  }

  Json call(const std::string& method, const std::string& path, const Json& body) {
    CURL* curl = ::curl_easy_init();
    const std::string url = "http://127.0.0.1:" + std::to_string(port_) + path,
                      sent = body.is_null() ? "{}" : body.dump();
    std::string answer;
    curl_slist* headers = ::curl_slist_append(nullptr, "Content-Type: application/json");
    ::curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    ::curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    ::curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method.c_str());
    ::curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    ::curl_easy_setopt(curl, CURLOPT_TIMEOUT, 120L);
    if (method == "POST") ::curl_easy_setopt(curl, CURLOPT_POSTFIELDS, sent.c_str());
    ::curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    ::curl_easy_setopt(
        curl, CURLOPT_WRITEFUNCTION, +[](char* bytes, size_t size, size_t count, void* to) {
          static_cast<std::string*>(to)->append(bytes, size * count);
          return size * count;
        });
    const CURLcode code = ::curl_easy_perform(curl);
    ::curl_slist_free_all(headers);
    ::curl_easy_cleanup(curl);
    if (code != CURLE_OK)
      throw std::runtime_error("chromedriver does not answer: " + std::string(::curl_easy_strerror(code)));
    const Json value = Json::parse(answer).at("value");
    if (value.is_object() && value.contains("error"))
      throw std::runtime_error(path + ": " + value.dump().substr(0, 500));
    return value;
  }

  struct Close {
    void operator()(FILE* file) const { std::fclose(file); }
  };
  TempDir directory_;
  bool dark_ = false, print_ = false;
  pid_t driver_ = -1;
  int port_ = 0;
  std::unique_ptr<FILE, Close> output_;
  std::string session_;
};

}  // namespace graphpae::test
