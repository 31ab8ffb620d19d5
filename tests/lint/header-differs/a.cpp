PROJ_SG(16) void a();
