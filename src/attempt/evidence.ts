/**
 * What is kept beside the rows, so that a verdict can show its evidence: what was asked (once for
 * each template) and what came back (the bodies that the scenario asks to capture).
 */

/** A request as it was asked, without its key: enough for a `curl` command that shows it again. */
export interface TemplateRow {
  readonly runId: string
  readonly template: number
  readonly step: string
  readonly method: string
  readonly path: string
  /** JSON object of the request's own headers; the key stands as `$ASSAY_API_KEY`. */
  readonly headers: string
  readonly body: string | null
  readonly maxTokens: number | null
  readonly n: number | null
  /** Hash over model, system and messages: equal prompts must cost equal prompt tokens. */
  readonly promptHash: string | null
}

/** A response as it came: bytes bounded, every occurrence of the key replaced by `[key]`. */
export interface BodyRow {
  readonly runId: string
  readonly slot: number
  readonly retry: number
  /** Header lines as they came, `name: value` separated by \n. */
  readonly headers: string
  readonly body: string
  /** Whether the body was longer than what is kept. */
  readonly truncated: boolean
}
