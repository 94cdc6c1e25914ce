// A tool that is watched from outside: it tells a server on loopback when it starts, that it lives, and of its effect,
// each with the time by the machine's clock. Called as `witness PORT MODE payload`, the payload being base64 of
// {"params": {"ms": …, "failures": …}, …}. Static, so that it is an image of its own.
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int witness = -1;

static int digit(char c) {
  const char *all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = c ? strchr(all, c) : NULL;
  return at == NULL ? -1 : (int)(at - all);
}

static void decode(const char *from, char *to, size_t room) {
  unsigned bits = 0, held = 0;
  size_t length = 0;
  for (; digit(*from) >= 0 && length < room - 1; from++) {
    held = held << 6 | (unsigned)digit(*from), bits += 6;
    if (bits >= 8) bits -= 8, to[length++] = (char)(held >> bits & 255);
  }
  to[length] = 0;
}

static long number(const char *json, const char *name) {
  const char *at = strstr(json, name);
  return at == NULL ? 0 : atol(at + strlen(name));
}

static long long now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// Whoever cannot be witnessed does nothing more.
static void tell(const char *what) {
  char line[300];
  int length = snprintf(line, sizeof line, "%s %lld\n", what, now(CLOCK_REALTIME));
  if (write(witness, line, (size_t)length) != length) exit(91);
}

static void tell_and_wait(const char *what) {
  char heard;
  tell(what);
  if (read(witness, &heard, 1) != 1) exit(92);
}

static void live(long ms) {
  struct timespec pause = {0, 20000000};
  long long end = now(CLOCK_MONOTONIC) + ms * 1000000LL;
  tell("alive");
  while (now(CLOCK_MONOTONIC) < end) nanosleep(&pause, NULL), tell("alive");
}

int main(int argc, char **argv) {
  if (argc != 4) return 99;
  static char payload[200000];
  char hello[300];
  decode(argv[3], payload, sizeof payload);
  if (strcmp(argv[2], "nothing") == 0) return puts("{\"text\":\"nothing\"}") < 0;
  const char *mode = argv[2], *id = getenv("TOOLYARD_INVOCATION_ID"), *attempt = getenv("TOOLYARD_ATTEMPT");
  if (id == NULL || attempt == NULL) return 98;
  signal(SIGPIPE, SIG_IGN);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(argv[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  witness = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(witness, (struct sockaddr *)&address, sizeof address) != 0) return 97;
  snprintf(hello, sizeof hello, "start %s %s", id, attempt);
  tell_and_wait(hello);
  if (strcmp(mode, "hang") == 0) {
    signal(SIGTERM, SIG_IGN);
    live(600000);
  }
  live(number(payload, "\"ms\":"));
  tell_and_wait("effect");
  int fails = strcmp(mode, "fail") == 0;
  if (strcmp(mode, "flaky") == 0) fails = atol(attempt) <= number(payload, "\"failures\":");
  printf("{\"%s\":\"%s %s\"}\n", fails ? "error" : "text", id, attempt);
  return 0;
}
