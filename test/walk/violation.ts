/** A violated rule. `rule` identifies it, so that shrinking does not switch to another fault. */
export class Violation extends Error {
  readonly rule: string

  constructor(rule: string, detail: string) {
    super(`${rule}: ${detail}`)
    this.name = 'Violation'
    this.rule = rule
  }
}
