#include "h.hpp"
shape<> a;
shape<16> b;
shape<8, 256> c;
wide<int> d;
wide<int, 32> e;
none<> f;
