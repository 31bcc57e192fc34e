// A function that V8 compiles while the program runs.
function hot(n) { // MARK hot
  let sum = 0;
  for (let i = 0; i < n; i++) sum += Math.sqrt(i) % 7;
  return sum;
}
let total = 0;
const rounds = Number(process.argv[2] || 60);
for (let k = 0; k < rounds; k++) total += hot(1e6);
console.log(total);
