// app.cc - a user's program in C++.
#include <coil.h>

#include <cstdio>
#include <string>

static int app(void *arg)
{
    int rc = coil_sleep(COIL_MSEC(1));

    if (rc < 0)
        return rc;
    std::printf("coil %s %s\n", coil_version(), static_cast<std::string *>(arg)->c_str());
    return 0;
}

int main()
{
    std::string word = "slept";

    return coil_run(app, &word, nullptr) < 0;
}
