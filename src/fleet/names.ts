/** The bucket of all runs, whose entries expire after a day. */
export const bucket = 'assay'
export const keptMs = 86_400_000

/**
 * Names of one run on the server. A dot separates the parts of a name there, so dots of a run's id are
 * replaced by `=`, which no id contains.
 */
export function namesOf(runId: string) {
  const run = runId.replaceAll('.', '=')
  return {
    /** Names of stored words. */
    all: `${run}.>`,
    shard: (index: number) => `${run}.shard.${index}`,
    said: (what: string, index: number) => `${run}.said.${wordOf(what)}.${index}`,
    stop: `${run}.stop`,
    end: (index: number) => `${run}.end.${index}`,
    /** The shard of a stored name of this kind; null for another name. */
    indexOf: (kind: 'shard' | 'end', name: string) => {
      const rest = name.startsWith(`${run}.${kind}.`)
        ? name.slice(run.length + kind.length + 2)
        : ''
      return /^\d{1,6}$/.test(rest) ? Number(rest) : null
    },
    /** Subjects of messages that are not stored. */
    clock: `assay.${run}.clock`,
    credits: (index: number) => `assay.${run}.credits.${index}`,
    live: (index: number | '*') => `assay.${run}.live.${index}`,
  }
}
export type Names = ReturnType<typeof namesOf>

/** Any text as one part of a name. */
const wordOf = (text: string) => Buffer.from(text).toString('base64url')
