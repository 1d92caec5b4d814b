// arguments: N, Times
function fib(n) {
  if (n === 0) return 1;
  if (n === 1) return 1;
  return fib(n - 1) + fib(n - 2);
}
const n = Number(process.argv[2]), times = Number(process.argv[3]);
let result = 0;
for (let i = 0; i < times; i++) result = fib(n);
console.log(String(result));
