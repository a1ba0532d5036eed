/**
 * Has a screen reader say that a form was not sent, each time that it was not: where the field that is wrong has the focus
 * already, nothing else would. Those who see it find the marks.
 */
export function CheckFields({ refused }: { refused: number }) {
  return (
    <div role="alert" className="visually-hidden">
      {/* Another element each time: only what changes is read out. */}
      {refused > 0 && <span key={refused}>Please check the marked fields.</span>}
    </div>
  )
}
