/** What the entries of classes have in common in calendar files and in the calendar that families subscribe to. */
export const classCalendar = {
  product: '-//Robo Kids Learning//Classes//EN',
  organizerName: 'Robo Kids Learning',
  location: 'Live video call',
  /** @param title the class and its children. */
  summary: (title: string) => `Robo Kids Learning: ${title}`,
  uid: (id: string) => `${id}@robokidslearning`,
} as const
