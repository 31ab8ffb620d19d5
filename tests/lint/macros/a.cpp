#include "sg.hpp"
SG(8) void a();
ATTR(8) void b();
TWICE(foo(1, 2), 4) void c();
SG(16) void d();
KERNEL(name, 8) { }
ANY(8) void e();
SG( /* spelled
   over lines */ 8 \
) void f();
constexpr int kEight = 8; SG(kEight) void g();
int SG = 8; /* the macro takes parentheses: this is no use of it */
#define NO_USE SG
KERNEL(name) { }
KERNEL(name, 32) { }
