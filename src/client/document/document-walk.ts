import { copySpan, setSpan } from '../bytes/span.ts'
import { mostChoices } from './document-facts.ts'
import { DocumentValues } from './document-values.ts'
import { countsFrom, heldBy, holds, names, objects, objectsFrom, uses } from './document-words.ts'

/**
 * Walks over the lists and objects of one document of a response, and keeps what metrics and rules need. A document is a
 * body of any format, one event of a stream, or an error.
 *
 * The grammar (`json.ts`) calls `member` for each member of an object, and `element` for each element of a list. Both are given which
 * object or list it is, a number of `objects`. A table (`document-words.ts`) says what a member of that name holds there, and
 * so which method reads it: one of `document-values.ts` for a string or a number, one of these for the rest.
 *
 *     {"choices":[{"index":0,"delta":{"content":"Hi"}}]}
 *     root        choice     delta    text                 one method within the other
 */
export class DocumentWalk extends DocumentValues {
  protected override root(): boolean {
    if (this.atObject()) {
      this.isObject = true
      if (!this.object(objects.root)) return false
      this.takeStatus()
      return true
    }
    if (!this.atList()) return this.skip()
    // Some services send an error as a list of one error. Nothing else is a list.
    if (!this.array(objects.error)) return false
    this.choices = -1
    this.blocks = -1
    this.hasText = false
    return true
  }

  protected override member(object: number, keyStart: number, keyEnd: number): boolean {
    const name = names.find(this.bytes, keyStart, keyEnd)
    const held = name === 0 ? holds.unknown : heldBy(object, name)
    if (held >= objectsFrom) return this.inside(held - objectsFrom)
    if (held >= countsFrom) return this.keepCount(uses.counts + held - countsFrom)
    switch (held) {
      case holds.unknown:
        return this.unknownMember(object, keyStart, keyEnd)
      case holds.id:
        return this.keepString(this.id, uses.id)
      case holds.model:
        return this.keepString(this.model, uses.model)
      case holds.type:
        return object === objects.root ? this.keepString(this.type, uses.type) : this.readPartType()
      case holds.kind:
        return this.readKind()
      case holds.finish:
        return this.finishOf(object)
      case holds.status:
        return this.keepReason(this.status, uses.status)
      case holds.index:
        return this.readIndex()
      case holds.text:
        return this.text(object, uses.text)
      case holds.reasoning:
        return this.text(objects.thought, uses.reasoning)
      case holds.summary:
        return this.text(objects.thought, uses.summary)
      case holds.tool:
        return this.tool()
      case holds.sound:
        return this.atString() ? this.keepText(uses.text) : this.skip()
      case holds.image:
        if (this.atString()) return this.keepText(uses.text)
        return this.atList() ? this.array(objects.image) : this.inside(objects.image)
      case holds.choices:
        if (!this.atList()) return this.skip()
        this.choices = 0
        return this.array(objects.choice)
      case holds.blocks:
        this.blocks = 0
        return this.atList() ? this.array(objects.block) : this.text(objects.block, uses.text)
      case holds.embeddings:
        if (!this.atList()) return this.skip()
        this.blocks = 0
        return this.array(objects.embedding)
      case holds.delta:
        return this.atObject() ? this.object(objects.delta) : this.text(object, uses.text)
      case holds.block:
        return this.atObject() ? this.part(objects.block) : this.skip()
      case holds.toolCall:
        return this.atList() ? this.array(objects.toolCall) : this.inside(objects.toolCall)
      case holds.passes:
        return this.atList() ? this.array(objects.pass) : this.skip()
      case holds.semantic:
        return this.readSemantic()
      case holds.message:
        return this.atString() ? this.keepComplaint() : this.inside(objects.root)
      case holds.complaint:
        return this.keepComplaint()
      case holds.error:
        return this.error()
      case holds.errorCode:
        return this.keepErrorValue(
          object === objects.error ? uses.errorCode : uses.otherCode,
          this.errorCode,
        )
      case holds.errorType:
        return this.keepErrorValue(uses.errorType, this.errorType)
      case holds.errorStatus:
        return this.errorType.start >= 0
          ? this.keepErrorValue(uses.errorText, null)
          : this.keepErrorValue(uses.errorType, this.errorType)
      case holds.errorMessage:
        return this.keepErrorValue(uses.errorMessage, this.errorMessage)
      default:
        return this.skip()
    }
  }

  protected override element(object: number, index: number): boolean {
    switch (object) {
      case objects.choice:
        return this.choice(index)
      case objects.embedding:
        this.blocks = index + 1
        return this.skip()
      case objects.pass:
        this.passes = index + 1
        return this.skip()
      case objects.block:
        this.blocks = Math.max(this.blocks, index + 1)
        return this.atObject() ? this.part(object) : this.skip()
      case objects.part:
        return this.atObject() ? this.part(object) : this.text(object, uses.text)
      case objects.thought:
        return this.text(object, uses.reasoning)
      case objects.image:
        return this.atString() ? this.keepText(uses.text) : this.inside(object)
      case objects.error:
        return this.inside(objects.root)
      default:
        return this.inside(object)
    }
  }

  /** An object of this kind, or a value that is skipped. */
  private inside(object: number): boolean {
    return this.atObject() ? this.object(object) : this.skip()
  }

  private choice(index: number): boolean {
    this.choices = index + 1
    if (!this.atObject()) return this.skip()
    this.choiceIndex = index
    this.choiceFinish.start = -1
    const { valuesEnd: from, hasText: othersHaveText } = this
    this.hasText = false
    if (!this.object(objects.choice)) return false
    const { choiceIndex, choiceFinish } = this
    const bit = choiceIndex >= 0 && choiceIndex < mostChoices ? 1 << choiceIndex : 0
    this.choiceBits |= bit
    if (this.hasText) this.textBits |= bit
    this.hasText ||= othersHaveText
    if (choiceFinish.start < 0) return true
    this.endedBits |= bit
    if (choiceIndex === 0) copySpan(choiceFinish, this.finish)
    else {
      // The index may follow the reason.
      this.changeUse(from, uses.finish, uses.otherFinish)
      copySpan(choiceFinish, this.otherFinish)
      this.noteOtherEnd()
    }
    return true
  }

  private finishOf(object: number): boolean {
    if (object === objects.choice) return this.keepReason(this.choiceFinish, uses.finish)
    const start = this.at
    if (!this.keepReason(this.finish, uses.finish)) return false
    // A word that is no reason is not kept.
    if (this.finish.start > start) this.endedBits |= 1
    return true
  }

  /** A part of a list of content: its type says whether its text is reasoning, and may follow it. */
  private part(object: number): boolean {
    const { hasText: othersHaveText, partIsThought: outerIsThought, valuesEnd: from } = this
    const bytesBefore = this.textBytes - this.thoughtBytes
    this.partIsThought = false
    this.hasText = false
    if (!this.object(object)) return false
    if (this.partIsThought) {
      this.changeUse(from, uses.text, uses.reasoning)
      this.hasReasoning ||= this.hasText
      this.thoughtBytes = this.textBytes - bytesBefore
    }
    this.partIsThought = outerIsThought
    this.hasText ||= othersHaveText
    return true
  }

  /** A string, a list of parts, or one part. */
  private text(object: number, use: number): boolean {
    if (this.atString()) return this.keepText(use)
    const within = partsOf(object)
    if (this.atList()) return this.listInPart(within)
    if (!this.atObject()) return this.skip()
    return within === objects.thought ? this.object(within) : this.part(within)
  }

  /** A list inside a part, which does not count as blocks of the answer. */
  private listInPart(object: number): boolean {
    const { blocks } = this
    if (!this.array(object)) return false
    this.blocks = blocks
    return true
  }

  /** The name or the arguments of a tool call; some services send arguments as an object. */
  private tool(): boolean {
    if (this.atString()) return this.keepText(uses.text)
    const start = this.at
    if (!this.skip()) return false
    if (this.isFilled(start)) {
      this.hasText = true
      this.hasObjectText = true
      this.textBytes += this.at - start
    }
    return true
  }

  /** `error: null`, `""`, `{}`, `false` and 0 are not errors. */
  private error(): boolean {
    this.errorIsObject = this.atObject()
    if (this.errorIsObject) return this.object(objects.error)
    if (this.atString()) return this.keepErrorValue(uses.errorMessage, this.errorMessage)
    if (this.atNumber()) return this.keepErrorValue(uses.errorText, null)
    const [isTrue, start] = [this.atTrue(), this.at]
    if (!this.skip()) return false
    if (isTrue || this.isFilled(start)) this.noteError()
    return true
  }

  /** In an error it is one more value of it. In a delta or a part it may be text in a place that the table lacks. */
  private unknownMember(object: number, keyStart: number, keyEnd: number): boolean {
    if (object === objects.error) return this.keepErrorValue(uses.errorText, null)
    if (object !== objects.delta && object !== objects.part) return this.skip()
    const start = this.at
    if (!(this.atString() ? this.noteString(uses.unknown) : this.skip())) return false
    // A document with one that says something is walked each time. Its name may have escapes.
    if (this.isFilled(start) && this.unknown.start < 0)
      setSpan(this.unknown, keyStart, keyEnd, true)
    return true
  }
}

/** What the parts of a text in this object are: parts of a delta are no blocks of the answer, and all of a thought is thought. */
function partsOf(object: number): number {
  switch (object) {
    case objects.thought:
      return objects.thought
    case objects.delta:
    case objects.part:
      return objects.part
    default:
      return objects.block
  }
}
