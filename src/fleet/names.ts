/** The bucket of all runs. What is in it goes after a day. */
export const bucket = 'assay'
export const keptMs = 86_400_000

/**
 * Names of one run on the server. A run's id may hold dots, which part the words of a name there; it holds
 * no `=`.
 */
export function namesOf(runId: string) {
  const run = runId.replaceAll('.', '=')
  return {
    /** What is kept of the run. */
    all: `${run}.>`,
    shard: (index: number) => `${run}.shard.${index}`,
    said: (what: string, index: number) => `${run}.said.${wordOf(what)}.${index}`,
    stop: `${run}.stop`,
    end: (index: number) => `${run}.end.${index}`,
    /** The index of a shard that a kept name is about, if it is of that kind. */
    indexOf: (kind: 'shard' | 'end', name: string) => {
      const rest = name.startsWith(`${run}.${kind}.`)
        ? name.slice(run.length + kind.length + 2)
        : ''
      return /^\d{1,6}$/.test(rest) ? Number(rest) : null
    },
    /** What is only passed on. */
    clock: `assay.${run}.clock`,
    credits: (index: number) => `assay.${run}.credits.${index}`,
    live: (index: number | '*') => `assay.${run}.live.${index}`,
  }
}
export type Names = ReturnType<typeof namesOf>

/** Any text as one word of a name. */
const wordOf = (text: string) => Buffer.from(text).toString('base64url')
