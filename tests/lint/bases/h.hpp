struct FromHeader { enum { kHeader = 8 }; };
