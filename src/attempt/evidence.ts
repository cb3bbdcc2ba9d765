/** Evidence kept with the rows of a run: requests (once per template) and captured bodies of responses. */

/** A request without its key, complete enough for a `curl` command that repeats it. */
export interface TemplateRow {
  readonly runId: string
  readonly template: number
  readonly step: string
  readonly method: string
  readonly path: string
  /** JSON object of the request's own headers. `$ASSAY_API_KEY` replaces the key. */
  readonly headers: string
  readonly body: string | null
  readonly maxTokens: number | null
  readonly n: number | null
  /** Hash over model, system and messages: equal prompts must cost equal prompt tokens. */
  readonly promptHash: string | null
}

/** A response as received. Its size is bounded, and `[key]` replaces every occurrence of the key. */
export interface BodyRow {
  readonly runId: string
  readonly slot: number
  readonly retry: number
  /** Header lines as received, `name: value` separated by \n. */
  readonly headers: string
  readonly body: string
  /** Whether the body was longer than the part that is kept. */
  readonly truncated: boolean
}
