//! Spans as exporters write them: the typed attributes of OTLP, and the plain ones that OpenTelemetry's own libraries print and that Phoenix
//! exports, with their ids in a context of their own. Jaeger's spans have tags and logs in place of attributes and events
//! (<https://www.jaegertracing.io/docs/2.11/architecture/apis/>), and Tempo's answers hold OTLP under `batches` or within a `trace`.

use crate::format::ground::{millis, wire};
use crate::list::Gather;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::fmt;

wire! {
    /// One span. Of each pair of names one is OTLP's, the other that of a printed span.
    pub struct Span {
        trace_id: Value = "traceId" | "trace_id" | "traceID",
        span_id: Value = "spanId" | "span_id" | "spanID",
        parent_span_id: Value = "parentSpanId" | "parent_span_id",
        parent_id: Value,
        parent_context: Option<Context> = "parentSpanContext",
        context: Option<Context> = "context" | "spanContext",
        start_time_unix_nano: Value = "startTimeUnixNano" | "start_time_unix_nano",
        start_time: Value = "startTime" | "start_time",
        /// OpenInference's name for what was done, where it stands beside the attributes.
        span_kind: Value,
        /// Jaeger's links to other spans, of which one is the parent.
        references: Value,
        tags: Value,
        logs: Value,
        /// Jaeger has traces where others have spans: the spans of one.
        spans: Option<Vec<Span>>,
        /// Everything that is known of it, under the names of the conventions.
        pub attributes: Attributes,
        /// The events of the span; some exporters keep messages there.
        pub events: Option<Vec<Event>>,
    }

    struct Context { trace_id: Value = "traceId" | "trace_id", span_id: Value = "spanId" | "span_id" }

    /// Something that happened in a span.
    pub struct Event {
        /// The name of the event by the conventions.
        pub name: String,
        /// The typed or plain attributes of the event.
        pub attributes: Attributes,
    }
}

fn word<'v>(values: impl IntoIterator<Item = &'v Value>) -> String {
    values.into_iter().filter_map(Value::as_str).find(|word| !word.is_empty()).unwrap_or_default().to_owned()
}

impl Span {
    /// The span's id, unique within its trace.
    pub fn id(&self) -> String {
        word([&self.span_id].into_iter().chain(self.context.as_ref().map(|context| &context.span_id)))
    }

    /// The span that it is within; empty for the outermost.
    pub fn parent(&self) -> String {
        let referred =
            self.references.as_array().into_iter().flatten().filter(|link| link.get("refType").is_none_or(|kind| kind == "CHILD_OF"));
        let known = [&self.parent_span_id, &self.parent_id].into_iter().chain(self.parent_context.as_ref().map(|context| &context.span_id));
        word(known.chain(referred.filter_map(|link| link.get("spanID"))))
    }

    /// The id of the trace that the span belongs to.
    pub fn trace(&self) -> String {
        word([&self.trace_id].into_iter().chain(self.context.as_ref().map(|context| &context.trace_id)))
    }

    /// When it began, in milliseconds since 1970.
    pub fn time(&self) -> Option<i64> {
        moment(&self.start_time_unix_nano).or_else(|| moment(&self.start_time))
    }

    /// Itself, or the spans of the trace that it is, with tags and logs as attributes and events.
    fn each(self) -> Vec<Span> {
        let Span { spans: Some(spans), .. } = self else { return vec![self.named()] };
        spans.into_iter().map(Span::named).collect()
    }

    fn named(mut self) -> Span {
        if self.attributes.0.is_empty() {
            self.attributes = serde_json::from_value(self.tags.take()).unwrap_or_default();
        }
        if let (None, Value::Array(logs)) = (&self.events, self.logs.take()) {
            // Jaeger keeps the name of an event among its fields.
            let event = |mut log: Value| {
                let attributes: Attributes = serde_json::from_value(log.get_mut("fields")?.take()).ok()?;
                Some(Event { name: attributes.0.get("event")?.as_str()?.to_owned(), attributes })
            };
            self.events = Some(logs.into_iter().filter_map(event).collect());
        }
        self
    }

    /// OpenInference's name for what was done; empty where none is given.
    pub fn kind(&self) -> &str {
        self.span_kind.as_str().unwrap_or_default()
    }
}

/// A time in milliseconds since 1970, from a text, a number, or seconds and nanoseconds.
pub fn moment(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.parse::<i64>().ok().map(scaled).or_else(|| millis(text)),
        Value::Number(number) => number.as_i64().map(scaled),
        Value::Array(pair) => {
            let [seconds, nanoseconds] = pair.as_slice() else { return None };
            seconds.as_i64()?.checked_mul(1000)?.checked_add(nanoseconds.as_i64()? / 1_000_000)
        }
        _ => None,
    }
}

/// Milliseconds of a number whose size tells its unit: no span began before 2001, when milliseconds got their thirteenth digit.
fn scaled(number: i64) -> i64 {
    match number {
        1_000_000_000_000_000_000.. => number / 1_000_000,
        1_000_000_000_000_000.. => number / 1000,
        _ => number,
    }
}

/// Attributes by name, without the names of their types.
#[derive(Default)]
pub struct Attributes(pub Map<String, Value>);

wire! {
    struct Attribute { key: String, value: Value }
}

impl<'de> Deserialize<'de> for Attributes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Attributes, D::Error> {
        deserializer.deserialize_any(Shape)
    }
}

struct Shape;

impl<'de> Visitor<'de> for Shape {
    type Value = Attributes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("attributes")
    }

    /// OTLP: a list of names with typed values.
    fn visit_seq<A: SeqAccess<'de>>(self, mut listed: A) -> Result<Attributes, A::Error> {
        let mut kept = Map::new();
        while let Some(attribute) = listed.next_element::<Attribute>()? {
            kept.insert(attribute.key, plain(attribute.value));
        }
        Ok(Attributes(kept))
    }

    /// Printed spans: names and their values. Some exporters nest them by the dots in their names.
    fn visit_map<A: MapAccess<'de>>(self, mut named: A) -> Result<Attributes, A::Error> {
        let mut kept = Map::new();
        while let Some((name, value)) = named.next_entry::<String, Value>()? {
            if name.contains('.') {
                kept.insert(name, value);
            } else {
                flatten(name, value, &mut kept);
            }
        }
        Ok(Attributes(kept))
    }

    fn visit_unit<E>(self) -> Result<Attributes, E> {
        Ok(Attributes::default())
    }
}

/// Puts what is nested under the name that leads to it. OpenInference numbers the messages; the other conventions have one value for all of them.
fn flatten(name: String, value: Value, kept: &mut Map<String, Value>) {
    match value {
        Value::Object(fields) => fields.into_iter().for_each(|(field, value)| flatten(format!("{name}.{field}"), value, kept)),
        Value::Array(list) if name.starts_with("llm.") && list.iter().any(Value::is_object) => {
            list.into_iter().enumerate().for_each(|(index, value)| flatten(format!("{name}.{index}"), value, kept));
        }
        value => drop(kept.insert(name, value)),
    }
}

/// The value of an attribute without the name of its type. Whole numbers are written as texts.
fn plain(value: Value) -> Value {
    let Value::Object(mut typed) = value else { return value };
    // Protocol buffers write both spellings (<https://protobuf.dev/programming-guides/json/>).
    let mut field = |names: [&str; 2]| names.iter().find_map(|name| typed.remove(*name));
    if let Some(number) = field(["intValue", "int_value"]) {
        return number.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or(number);
    }
    if let Some(list) = field(["arrayValue", "array_value"]) {
        return list.get("values").and_then(Value::as_array).into_iter().flatten().cloned().map(plain).collect();
    }
    if let Some(list) = field(["kvlistValue", "kvlist_value"]) {
        let pairs = list.get("values").and_then(Value::as_array).cloned().unwrap_or_default();
        let pair = |pair: Value| Some((pair.get("key")?.as_str()?.to_owned(), plain(pair.get("value")?.clone())));
        return Value::Object(pairs.into_iter().filter_map(pair).gather());
    }
    [["stringValue", "string_value"], ["doubleValue", "double_value"], ["boolValue", "bool_value"]]
        .into_iter()
        .find_map(field)
        .unwrap_or_default()
}

wire! {
    /// A value of a file: an export in OTLP, a list of spans under a name, or a span.
    pub struct Export {
        resources: Option<Vec<Resource>> = "resourceSpans" | "resource_spans" | "batches",
        trace: Value,
        spans: Option<Vec<Span>> = "spans" | "data",
        span_id: Option<IgnoredAny> = "spanId" | "span_id",
        context: Option<IgnoredAny> = "context" | "spanContext",
    }

    struct Resource { scopes: Vec<Scope> = "scopeSpans" | "scope_spans" | "instrumentationLibrarySpans" }

    struct Scope { spans: Vec<Span> }
}

/// The spans of a value; none where it is something else. A list holds spans or exports.
pub fn spans(text: &str) -> Result<Option<Vec<Span>>, serde_json::Error> {
    if text.trim_start().starts_with('[') {
        let of_element = |element: &RawValue| match serde_json::from_str(element.get()) {
            Ok(Export { resources: Some(resources), .. }) => Ok(within(resources)),
            _ => serde_json::from_str(element.get()).map(Span::each),
        };
        let elements = serde_json::from_str::<Vec<&RawValue>>(text)?;
        return elements
            .into_iter()
            .map(of_element)
            .collect::<Result<Vec<_>, _>>()
            .map(|spans| Some(spans.into_iter().flatten().collect()));
    }
    let mut export = serde_json::from_str::<Export>(text)?;
    // Tempo's second interface puts the export into a trace.
    if export.trace.is_object() {
        export = serde_json::from_value(export.trace)?;
    }
    if let Some(resources) = export.resources {
        return Ok(Some(within(resources)));
    }
    if let Some(spans) = export.spans {
        return Ok(Some(spans.into_iter().flat_map(Span::each).collect()));
    }
    let is_span = export.span_id.is_some() || export.context.is_some();
    Ok(if is_span { Some(serde_json::from_str::<Span>(text)?.each()) } else { None })
}

fn within(resources: Vec<Resource>) -> Vec<Span> {
    resources.into_iter().flat_map(|resource| resource.scopes).flat_map(|scope| scope.spans).collect()
}
