/** What a number must be able to do: the ledger is exact, and a forecast is quick. */
export interface Arithmetic<Amount> {
  readonly zero: Amount
  add(a: Amount, b: Amount): Amount
  subtract(a: Amount, b: Amount): Amount
  isAboveZero(a: Amount): boolean
  least(a: Amount, b: Amount): Amount
}

/** The models that lots name, sorted. Use of all others is alike. */
export const namedModels = (
  lots: readonly { readonly models?: readonly string[] | null }[],
): readonly string[] => [...new Set(lots.flatMap(({ models }) => models ?? []))].sort()

/** Kinds of use: models for which the same lots pay. */
export function kindsOf(lots: readonly { readonly models?: readonly string[] | null }[]): {
  /** The kind of each model that a lot names; null is use of all others. */
  readonly of: ReadonlyMap<string | null, number>
  /** Whether a lot pays for a kind, by kind and lot. */
  readonly pays: readonly (readonly boolean[])[]
} {
  const pays: (readonly boolean[])[] = []
  const of = new Map<string | null, number>()
  for (const model of [null, ...namedModels(lots)]) {
    const own = lots.map(
      ({ models = null }) => models === null || (model !== null && models.includes(model)),
    )
    const known = pays.findIndex((each) => each.every((value, at) => value === own[at]))
    of.set(model, known < 0 ? pays.push(own) - 1 : known)
  }
  return { of, pays }
}

/** A lot that pays for a kind of use. */
interface Step {
  readonly kind: number
  readonly lot: number
}

/**
 * Lots that pay for kinds of use, each for some kinds only. A period is a time in which the same lots are open. Of what was used
 * in a period, the first lot in order pays as much as it may, then the second, and so on; together they always pay as much as they
 * can. So a lot may hand what it paid in this period to another, if that lets it pay for what no other lot pays for. No lot ever
 * pays less than before. What was paid does not depend on the order of use within a period. Lots and kinds are numbers.
 */
export class Payers<Amount> {
  /** Of each lot. */
  readonly left: Amount[]
  private readonly of: Arithmetic<Amount>
  private readonly inOrder: readonly number[]
  /** Whether a lot pays for a kind, by kind and lot. */
  private readonly pays: readonly (readonly boolean[])[]
  private isOpen: readonly boolean[] = []
  /** What each lot paid in this period, by kind and lot. */
  paid: Amount[][] = []

  constructor(
    of: Arithmetic<Amount>,
    left: readonly Amount[],
    inOrder: readonly number[],
    pays: readonly (readonly boolean[])[],
  ) {
    this.of = of
    this.left = [...left]
    this.inOrder = inOrder
    this.pays = pays
  }

  /** Begins a period, in which these lots are open. @param paid in it so far */
  begin(isOpen: readonly boolean[], paid?: readonly (readonly Amount[])[]): void {
    this.isOpen = isOpen
    this.paid =
      paid?.map((each) => [...each]) ?? this.pays.map((lots) => lots.map(() => this.of.zero))
  }

  /** Pays for use. @returns what no lot pays for */
  take(kind: number, amount: Amount): Amount {
    const { of, left, paid } = this
    let due = amount
    while (of.isAboveZero(due)) {
      const path = this.pathFrom(kind)
      if (path === null) break
      let moved = of.least(due, left[path.at(-1)!.lot]!)
      for (let at = 1; at < path.length; at++)
        moved = of.least(moved, paid[path[at]!.kind]![path[at - 1]!.lot]!)
      for (const [at, step] of path.entries()) {
        const own = paid[step.kind]!
        own[step.lot] = of.add(own[step.lot]!, moved)
        if (at > 0) own[path[at - 1]!.lot] = of.subtract(own[path[at - 1]!.lot]!, moved)
      }
      const { lot } = path.at(-1)!
      left[lot] = of.subtract(left[lot]!, moved)
      due = of.subtract(due, moved)
    }
    return due
  }

  /** The same state, for a trial. */
  copy(): Payers<Amount> {
    const copy = new Payers(this.of, this.left, this.inOrder, this.pays)
    copy.begin(this.isOpen, this.paid)
    return copy
  }

  private isPayer(kind: number, lot: number): boolean {
    return this.isOpen[lot] === true && this.pays[kind]![lot] === true
  }

  /**
   * To the first lot in order that has something left: it pays for a kind that the lot before it on the path paid for, which pays
   * for the one before, and so on. Null if none is left.
   */
  private pathFrom(kind: number): readonly Step[] | null {
    const { of, left, inOrder, paid } = this
    const isShared = (lot: number) =>
      paid.some((each, other) => other !== kind && of.isAboveZero(each[lot]!))
    // Nearly always the first that pays for the kind has something left, or paid for nothing else.
    for (const lot of inOrder) {
      if (!this.isPayer(kind, lot)) continue
      if (of.isAboveZero(left[lot]!)) return [{ kind, lot }]
      if (isShared(lot)) break
    }
    const reached = new Map<number, { readonly kind: number; readonly after: number | null }>()
    const kinds: { readonly kind: number; readonly after: number | null }[] = [
      { kind, after: null },
    ]
    for (const each of kinds) {
      for (const lot of inOrder) {
        if (reached.has(lot) || !this.isPayer(each.kind, lot)) continue
        reached.set(lot, each)
        for (const [other, own] of paid.entries())
          if (of.isAboveZero(own[lot]!) && kinds.every((known) => known.kind !== other))
            kinds.push({ kind: other, after: lot })
      }
    }
    const last = inOrder.find((lot) => reached.has(lot) && of.isAboveZero(left[lot]!))
    if (last === undefined) return null
    const path: Step[] = []
    for (let lot: number | null = last; lot !== null; lot = reached.get(lot)!.after)
      path.unshift({ kind: reached.get(lot)!.kind, lot })
    return path
  }
}
