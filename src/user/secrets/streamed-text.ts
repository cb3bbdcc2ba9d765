import { mark, notKept, type Secrets } from './secrets.ts'

/** Characters before a piece in which a secret may begin. Eight of its letters are a find, so nested encodings fit too. */
const windowLength = 384

/**
 * A text that comes in pieces, without secrets that are split over them. A piece waits for no other: seven letters of a
 * secret may pass before the eighth shows what they are.
 */
export class StreamedText {
  private readonly secrets: Secrets
  private before = ''
  /** Whether the last piece ended in a secret, which is marked once. */
  private isInside = false

  constructor(secrets: Secrets) {
    this.secrets = secrets
  }

  /** The next piece without secrets. */
  next(piece: string): string {
    const text = this.before + piece
    const start = this.before.length
    this.before = text.slice(-windowLength)
    const regions = this.secrets.regionsOf(text)
    if (regions === null) return notKept
    let shown = ''
    let from = start
    let isInside = this.isInside
    for (const region of regions) {
      if (region.end <= start) continue
      if (region.start > from) isInside = false
      shown += text.slice(from, Math.max(from, region.start)) + (isInside ? '' : mark)
      from = region.end
      isInside = true
    }
    this.isInside = isInside && from === text.length
    return shown + text.slice(from)
  }
}
