export function NotFound() {
  return <h1>This page took itself apart</h1>
}
