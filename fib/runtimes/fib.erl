%% main([N, Times]) as strings: prints fib(N) and which flavour of Erlang ran it.
-module(fib).
-export([main/1]).

fib(0) -> 1;
fib(1) -> 1;
fib(N) -> fib(N - 1) + fib(N - 2).

times(_, 0, Result) -> Result;
times(N, Times, _) -> times(N, Times - 1, fib(N)).

main([N, Times]) ->
    Result = times(list_to_integer(N), list_to_integer(Times), 0),
    io:format("~b ~s~n", [Result, erlang:system_info(emu_flavor)]),
    halt(0).
