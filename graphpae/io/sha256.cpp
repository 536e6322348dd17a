#include "graphpae/io/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "graphpae/core/error.h"

namespace graphpae {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1) {
    throw Error(ErrorKind::internal, "SHA-256 is not available in OpenSSL");
  }
}

Sha256::~Sha256() = default;

void Sha256::update(const void* bytes, size_t size) { EVP_DigestUpdate(state_->context, bytes, size); }

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  EVP_DigestFinal_ex(state_->context, digest, &length);
  std::string text;
  for (unsigned i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256_of_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) throw data_error(fmt::format("{}: {}", path, std::strerror(errno)));
  Sha256 sum;
  std::vector<char> buffer(1 << 18);
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get())) sum.update(buffer.data(), got);
  if (std::ferror(file.get())) throw data_error(fmt::format("{}: {}", path, std::strerror(errno)));
  return sum.hex();
}

}  // namespace graphpae
