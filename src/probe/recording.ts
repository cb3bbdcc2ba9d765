import { Batch, Dictionary } from '../attempt/batch.ts'
import type { AttemptRow } from '../attempt/columns.ts'
import { type buildTemplate, templateRow } from '../client/call/request.ts'
import type { Received } from '../client/call/send-once.ts'
import type { Recorder } from '../store/attempts/recorder.ts'

/** Characters. */
const longestBody = 16_384

/** Hands the rows of a probe, with their templates and bodies, to the store's recorder. */
export class Recording {
  private readonly runId: string
  private readonly recorder: Recorder
  private readonly batch = new Batch()
  private readonly words = new Dictionary()
  private readonly templates = new Map<string, number>()

  constructor(runId: string, recorder: Recorder) {
    this.runId = runId
    this.recorder = recorder
  }

  /** The number of a template in the run. A new template is recorded. */
  templateOf(template: ReturnType<typeof buildTemplate>, step: string): number {
    const row = templateRow(template, { runId: this.runId, template: this.templates.size, step })
    // A prompt of a whole context window is dropped, not cut: an audit would take a cut one for the request.
    const kept = (row.body?.length ?? 0) > longestBody ? { ...row, body: null } : row
    const { step: of, path, headers, body, promptHash, method } = kept
    const name = JSON.stringify([of, path, headers, body, promptHash, method])
    const known = this.templates.get(name)
    if (known !== undefined) return known
    this.templates.set(name, kept.template)
    this.recorder.append('templates', [kept])
    return kept.template
  }

  record(row: AttemptRow, { captured }: Received): void {
    this.batch.push(row, this.words)
    if (captured !== null) {
      const { runId, slot, retry } = row
      const body = captured.body.slice(0, longestBody)
      const truncated = captured.truncated || captured.body.length > longestBody
      this.recorder.appendBodies([
        { runId, slot, retry, headers: captured.headers, body, truncated },
      ])
    }
    if (this.batch.full) this.flush()
  }

  flush(): void {
    if (this.batch.rows > 0) {
      this.recorder.appendBatch(0, {
        buffer: this.batch.buffer,
        rows: this.batch.rows,
        newWords: this.words.takeNew(),
      })
      this.batch.reset()
    }
    this.recorder.flush()
  }
}
