// In: one argument, base64 of {"params", "settings", "telemetry"}. Out: one JSON object on stdout; logs go to stderr.

const { params } = JSON.parse(Buffer.from(process.argv[2], 'base64').toString())

// A member `error` in place of `text` tells the caller why it could not be done.
console.log(JSON.stringify({ text: `Hello, ${params.name}!` }))
