//! The windows that a log names.

/// Windows that a log names, each beside the model that was in use then. A session that changes its model may name several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedWindows(Vec<(String, u64)>);

impl NamedWindows {
    /// Takes down a window, in tokens; a later one for the same model takes the place of an earlier one. The model is empty where it is unknown.
    pub fn name(&mut self, model: &str, window: u64) {
        match self.0.iter().position(|(known, _)| known == model) {
            Some(place) => {
                let (model, _) = self.0.remove(place);
                self.0.push((model, window));
            }
            None => self.0.push((model.to_owned(), window)),
        }
    }

    /// The window of a model; where the log names none for it, the last one that it names at all. `None` where it names no window.
    pub fn of(&self, model: Option<&str>) -> Option<u64> {
        let own = model.and_then(|model| self.0.iter().find(|(known, _)| known == model));
        own.or_else(|| self.0.last()).map(|(_, window)| *window)
    }
}
