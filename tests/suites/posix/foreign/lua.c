/*
 * lua.c - a script that uses luasocket, which waits in select() or poll().
 */
#include "foreign.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static const char script[] =
    "local port = ...\n"
    "local http, socket = require 'socket.http', require 'socket'\n"
    "http.TIMEOUT = 120\n"
    "local body, code = http.request('http://127.0.0.1:' .. port .. '/')\n"
    "socket.sleep(0.02)\n"
    "return code == 200 and body == 'slow\\n', tostring(code)\n";

static bool use(int number)
{
    lua_State *lua = luaL_newstate();
    bool right = false;

    (void)number;
    luaL_openlibs(lua);
    if (luaL_loadstring(lua, script) == LUA_OK) {
        lua_pushinteger(lua, foreign_port);
        right = lua_pcall(lua, 1, 2, 0) == LUA_OK && lua_toboolean(lua, -2);
    }
    if (!right)
        foreign_failed("%s", lua_tostring(lua, -1));
    lua_close(lua);
    return right;
}

const struct foreign foreign = {
    .name = "Lua", .tested = "luasocket: HTTP, sleeping", .server = true, .use = use};
