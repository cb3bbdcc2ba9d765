import { poisson, type Random, type Server } from './simulated-servers.ts'

/**
 * The search as it was until version 0.1.0: doubling trials of 5 s from 1/s, then halves, to 15 %; one hold suffices, two
 * failures in a row fail. Kept so that the simulation shows both.
 */
export function searchBefore(server: Server, random: Random) {
  const trials: { readonly perS: number; readonly held: boolean }[] = []
  let [nowS, requests] = [0, 0]
  const tried = (perS: number) => {
    const arrivals = poisson(random, perS, 5, nowS)
    const answers = server.serve(arrivals, false)
    const good = answers.filter(({ judgedS }) => judgedS <= 1).length
    const held = answers.length > 0 && good >= 0.95 * answers.length
    nowS = Math.max(nowS + 5, ...answers.map(({ endS }) => endS)) + (held ? 0 : 1)
    trials.push({ perS, held })
    requests += answers.length
  }
  const bracket = () => {
    const failed = trials
      .filter(
        ({ perS, held }, at) =>
          !held && at > 0 && trials[at - 1]!.perS === perS && !trials[at - 1]!.held,
      )
      .map(({ perS }) => perS)
    const high = failed.length > 0 ? Math.min(...failed) : null
    const safe = trials
      .filter(({ perS, held }) => held && (high === null || perS < high))
      .map(({ perS }) => perS)
    return { low: safe.length > 0 ? Math.max(...safe) : null, high }
  }
  for (let perS = 1; ; ) {
    tried(perS)
    const { low, high } = bracket()
    const last = trials.at(-1)!
    if (trials.length >= 60) break
    if (!last.held && trials.at(-2)?.perS !== last.perS) continue
    if (high === null) {
      if (low! >= 1000) break
      perS = Math.min(low! * 2, 1000)
    } else if (low === null) {
      if (high <= 1 / 256) break
      perS = high / 2
    } else if ((high - low) / high <= 0.15) break
    else perS = (low + high) / 2
  }
  return { safePerS: bracket().low, seconds: nowS, requests }
}
