#include "sg.hpp"
MY_SG(8) void f();
shape<8> s;
