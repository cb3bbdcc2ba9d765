import { startService } from '../../src/service/start.ts'

/** A service on a file, until it is killed. */
const service = await startService({
  dataPath: process.argv[2]!,
  accounts: [{ name: 'a', balance: 1_000_000 }],
  shape: {
    timeToFirstUs: { kind: 'constant', value: 0 },
    betweenTokensUs: { kind: 'constant', value: 0 },
    lengthTokens: { kind: 'constant', value: 4 },
  },
})
process.send!({ baseUrl: service.baseUrl, apiKey: service.keys[0]!.apiKey })
